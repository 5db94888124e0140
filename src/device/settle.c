/*
 * settle.c - see settle.h.
 */
#include "settle.h"

#include "node/os/os.h"

#define SEEN 4096 /* allocations; one that is met again is asked again */
#define WAIT_NS 1000000000
#define SPINS 64

static _Atomic uint64_t seen[SEEN]; /* their ids */

static void wait_for_default(void)
{
    sw_cuda_handle_t stream = (sw_cuda_handle_t)SW_CUDA_DEFAULT_STREAM;
    uint64_t end = sw_os_now() + WAIT_NS;
    int captures = 0;
    if (sw_cuda.cuStreamIsCapturing(stream, &captures) || captures)
        return;
    for (int i = 0; sw_cuda.cuStreamQuery(stream) == SW_CUDA_NOT_READY &&
                    sw_os_now() < end;
         i++) {
        if (i < SPINS)
            sw_os_pause();
        else
            sw_os_yield();
    }
}

void sw_settle(const sw_cuda_place_t *p)
{
    const unsigned on = 1;
    _Atomic uint64_t *slot = &seen[p->id % SEEN];
    if (!p->id || atomic_load_explicit(slot, memory_order_relaxed) == p->id)
        return;
    /* Where the driver refuses (memory of pools), all stays as it is. */
    (void)sw_cuda.cuPointerSetAttribute(&on, SW_CUDA_SYNCHRONOUS, p->start);
    wait_for_default();
    atomic_store_explicit(slot, p->id, memory_order_relaxed);
}
