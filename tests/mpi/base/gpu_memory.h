/*
 * gpu_memory.h - memory of a GPU, as a test program sees it.
 *
 * The driver is the stand-in (tests/device/standin/cuda/), or CUDA's own. The
 * processor faults on the device's addresses. The stand-in maps the same bytes
 * a second time, and device_alias finds them there. CUDA's driver has no such
 * mapping: device_alias finds ordinary memory of the allocation's size, which
 * device_put copies to the device, and device_get copies back. So a program
 * calls device_put after it has written, and device_get before it reads. Both
 * do nothing under the stand-in.
 */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#include "mpi/test.h"

#include <dlfcn.h>

#define GPU_BLOCKS_MAX 1024

static void *driver;      /* NULL: none is loaded */
static bool device_real;  /* CUDA's own */
static void *gpu_context; /* of device 0 */

static struct {
    char *at, *alias;
    size_t bytes;
} gpu_block[GPU_BLOCKS_MAX]; /* of CUDA's own driver */

static struct {
    void *(*allocate)(size_t bytes, int managed);
    void *(*alias)(const void *at);
    uint64_t (*count)(const char *call);
    uint64_t (*faults)(void);
} gpu_standin;

static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuCtxPushCurrent_v2)(void *context);
    int (*cuCtxPopCurrent_v2)(void **context);
    int (*cuCtxSynchronize)(void);
    int (*cuMemAlloc_v2)(unsigned long long *at, size_t bytes);
    int (*cuMemFree_v2)(unsigned long long at);
    int (*cuMemcpyHtoD_v2)(unsigned long long to, const void *from, size_t n);
    int (*cuMemcpyDtoH_v2)(void *to, unsigned long long from, size_t n);
} gpu_call;

static void device_load(const char *library)
{
    driver = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    CHECK(driver, "%s", dlerror());
#define GPU_FIND(name)                               \
    *(void **)&gpu_call.name = dlsym(driver, #name); \
    CHECK(gpu_call.name, "the driver has no %s", #name);
    GPU_FIND(cuInit)
    GPU_FIND(cuDevicePrimaryCtxRetain)
    GPU_FIND(cuCtxSetCurrent)
    GPU_FIND(cuCtxPushCurrent_v2)
    GPU_FIND(cuCtxPopCurrent_v2)
    GPU_FIND(cuCtxSynchronize)
    GPU_FIND(cuMemAlloc_v2)
    GPU_FIND(cuMemFree_v2)
    GPU_FIND(cuMemcpyHtoD_v2)
    GPU_FIND(cuMemcpyDtoH_v2)
    *(void **)&gpu_standin.allocate = dlsym(driver, "standin_allocate");
    *(void **)&gpu_standin.alias = dlsym(driver, "standin_alias");
    *(void **)&gpu_standin.count = dlsym(driver, "standin_count");
    *(void **)&gpu_standin.faults = dlsym(driver, "standin_faults");
    device_real = !gpu_standin.allocate;
    if (device_real) {
        int code = gpu_call.cuInit(0);
        CHECK(!code, "cuInit: error %d", code);
        code = gpu_call.cuDevicePrimaryCtxRetain(&gpu_context, 0);
        CHECK(!code, "no context: error %d", code);
    }
}

/* This thread has the context from now on, as CUDA's runtime makes it. */
static inline void device_make_current(void)
{
    void *context;
    CHECK(!gpu_call.cuDevicePrimaryCtxRetain(&context, 0) &&
              !gpu_call.cuCtxSetCurrent(context),
          "no context");
}

/* CUDA's own driver: between these two this thread has the context. */
static void gpu_begin(void)
{
    CHECK(!gpu_call.cuCtxPushCurrent_v2(gpu_context), "no current context");
}

static void gpu_end(int code, const char *call)
{
    void *context;
    CHECK(!code, "%s: error %d", call, code);
    CHECK(!gpu_call.cuCtxPopCurrent_v2(&context), "no current context");
}

/* The number of the block that holds an address, or GPU_BLOCKS_MAX. */
static int gpu_find(const void *at)
{
    int i = 0;
    for (; i < GPU_BLOCKS_MAX; i++)
        if (gpu_block[i].at &&
            (uintptr_t)at - (uintptr_t)gpu_block[i].at < gpu_block[i].bytes)
            break;
    return i;
}

/* One thread at a time. */
static void *device_allocate(size_t bytes, int managed)
{
    if (!device_real)
        return gpu_standin.allocate(bytes, managed);
    unsigned long long at = 0;
    int i = 0;
    while (i < GPU_BLOCKS_MAX && gpu_block[i].at)
        i++;
    CHECK(i < GPU_BLOCKS_MAX, "more blocks than the program can remember");
    gpu_begin();
    gpu_end(gpu_call.cuMemAlloc_v2(&at, bytes), "cuMemAlloc");
    gpu_block[i].at = (char *)(uintptr_t)at;
    gpu_block[i].alias = malloc(bytes);
    gpu_block[i].bytes = bytes;
    return gpu_block[i].at;
}

/* A context must be current. */
static inline void device_free(const void *at)
{
    int i = device_real ? gpu_find(at) : GPU_BLOCKS_MAX;
    if (i < GPU_BLOCKS_MAX) {
        free(gpu_block[i].alias);
        gpu_block[i].at = NULL;
    }
    int code = gpu_call.cuMemFree_v2((uintptr_t)at);
    CHECK(!code, "cuMemFree: error %d", code);
}

/* Where the program finds the byte of the device's memory; NULL: it is none. */
static void *device_alias(const void *at)
{
    if (!device_real)
        return gpu_standin.alias(at);
    int i = gpu_find(at);
    return i == GPU_BLOCKS_MAX
               ? NULL
               : gpu_block[i].alias + ((const char *)at - gpu_block[i].at);
}

/* The whole allocation; an address of ordinary memory does nothing. The copy is
 * over when the function returns, as MPI asks. The driver's own return says
 * only that it has read the ordinary memory. */
static inline void device_put(const void *at)
{
    int i = device_real ? gpu_find(at) : GPU_BLOCKS_MAX;
    if (i == GPU_BLOCKS_MAX)
        return;
    gpu_begin();
    int code = gpu_call.cuMemcpyHtoD_v2((uintptr_t)gpu_block[i].at,
                                        gpu_block[i].alias, gpu_block[i].bytes);
    gpu_end(code ? code : gpu_call.cuCtxSynchronize(), "cuMemcpyHtoD");
}

static inline void device_get(const void *at)
{
    int i = device_real ? gpu_find(at) : GPU_BLOCKS_MAX;
    if (i == GPU_BLOCKS_MAX)
        return;
    gpu_begin();
    gpu_end(gpu_call.cuMemcpyDtoH_v2(gpu_block[i].alias,
                                     (uintptr_t)gpu_block[i].at,
                                     gpu_block[i].bytes),
            "cuMemcpyDtoH");
}

/* CUDA's own driver counts nothing. */
static inline uint64_t device_count(const char *call)
{
    return device_real ? 0 : gpu_standin.count(call);
}

static inline uint64_t device_faults(void)
{
    return driver && !device_real ? gpu_standin.faults() : 0;
}

#endif
