/*
 * nvrtc.h - CUDA's compiler at run time, libnvrtc, where it can be found.
 *
 * A kernel alone takes some 60 ms to compile, all of them ten seconds. So each
 * is compiled when it is first needed. The library is looked for then: among
 * what the program has loaded, by its names, in CUDA_HOME, in /usr/local/cuda.
 *
 * A compiler may need more stack than the program's thread has. So a thread of
 * its own looks for the compiler and runs it; that thread touches no context.
 */
#ifndef SW_DEVICE_NVRTC_H
#define SW_DEVICE_NVRTC_H

#include "node/base/base.h"

/* A source of kernels and the header that it includes: names and texts. */
typedef struct {
    const char *name, *header_name;
    char *text, *header;
} sw_nvrtc_source_t;

/* The machine code (cubin) of the source, of which `wanted` defines the kernels
 * ("SW_MOVES=..."), for a device of capability `sm`; or PTX, if the compiler is
 * older than the device. For free(). NULL: there is no compiler, or it fails.
 * One thread at a time. */
char *sw_nvrtc_compile(const sw_nvrtc_source_t *source, const char *wanted,
                       int sm);

#endif
