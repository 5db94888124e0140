/*
 * cuda.c - see cuda.h.
 */
#include "cuda.h"

#include "node/base/settings.h"
#include "node/os/os.h"

sw_cuda_t sw_cuda;
sw_cuda_counts_t sw_cuda_counts;
/* Set when the table is complete (release, acquire). */
static _Atomic bool bound;
static _Atomic pid_t owner; /* 0: no process yet */

void sw_cuda_bind(void *library)
{
    bool all = true;
#define FIND(name, arguments)                               \
    *(void **)&sw_cuda.name = sw_os_symbol(library, #name); \
    all = all && sw_cuda.name;
    SW_CUDA_CALLS(FIND)
    atomic_store_explicit(&bound, all, memory_order_release);
}

bool sw_cuda_usable(void)
{
    if (!sw_settings.gpu || !atomic_load_explicit(&bound, memory_order_acquire))
        return false;
    pid_t first = atomic_load_explicit(&owner, memory_order_relaxed);
    return !first || first == sw_os_pid();
}

bool sw_cuda_own(void)
{
    pid_t first = 0;
    return atomic_compare_exchange_strong(&owner, &first, sw_os_pid()) ||
           first == sw_os_pid();
}

bool sw_cuda_place(const void *at, sw_cuda_place_t *to)
{
    /* The driver writes 0 for what it does not know, in the attribute's own
     * size. */
    unsigned managed = 0, exports = 0;
    size_t bytes = 0;
    *to = (sw_cuda_place_t){.ordinal = -1};
    int which[] = {
        SW_CUDA_CONTEXT,        SW_CUDA_MEMORY_TYPE, SW_CUDA_ORDINAL,
        SW_CUDA_RANGE_START,    SW_CUDA_RANGE_SIZE,  SW_CUDA_BUFFER_ID,
        SW_CUDA_DEVICE_POINTER, SW_CUDA_IS_MANAGED,  SW_CUDA_IPC_CAPABLE};
    void *value[] = {&to->context, &to->type, &to->ordinal, &to->start, &bytes,
                     &to->id,      &to->at,   &managed,     &exports};
    unsigned n = sizeof which / sizeof *which;
    if (sw_cuda.cuPointerGetAttributes(n, which, value, (uintptr_t)at))
        return false;
    to->bytes = bytes;
    /* One byte of each is the answer: the driver's type is a bool. */
    to->managed = managed & 0xff;
    to->exports = exports & 0xff;
    return true;
}
