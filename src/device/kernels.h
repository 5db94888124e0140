/*
 * kernels.h - the kernels of move.cu and reduce.cu, for a context's device.
 *
 * Beside the library lies a folder `device` with move.cu, move.h and, where the
 * build had a compiler for it, move.ptx; and so for reduce.cu. A kernel comes
 * from the first of these that yields one:
 *
 *   NVRTC, for this very device          (nvrtc.h)
 *   its part of the PTX, which the driver compiles
 *
 * Each kernel is a module of its own, so that a program pays for those alone
 * that its calls need. In the PTX a kernel is the text from its `.entry` to the
 * next one, behind the file's head: no kernel calls a function.
 */
#ifndef SW_DEVICE_KERNELS_H
#define SW_DEVICE_KERNELS_H

#include "context.h"
#include "plan.h"

/* How move.cu is compiled: units that a thread moves at a time. */
enum { SW_KERNELS_UNROLL = 4 };

/* The function that carries the plan out. NULL: there is none, and a line has
 * been said about that. Within a visit. Thread safe. */
sw_cuda_handle_t sw_kernel(sw_context_t *c, const sw_plan_t *plan);
/* The same for a place in SW_REDUCTIONS. */
sw_cuda_handle_t sw_kernel_reduce(sw_context_t *c, int place);

/* Copy the part of a PTX text that defines the kernel `name`. For free(); NULL:
 * it defines none, or no memory. */
SW_API char *sw_kernel_slice(const char *ptx, const char *name);

#endif
