/*
 * memory.h - whose is the memory at an address: the processor's or a device's?
 *
 * A program may hand MPI memory of a GPU, which the processor cannot read: the
 * first load from it ends the process. So all code of ours asks here before it
 * touches a buffer. The host serves memory of a device.
 *
 * Only a driver's library can tell. As long as none is loaded, every address is
 * the processor's, and the question is three loads and a comparison (loads.h).
 * We never load a driver. Once one is there:
 *
 *   memory                                      asked
 *   our arena                                   none: the processor's
 *   CUDA (libcuda)                              cuPointerGetAttributes
 *   HIP, ROCm (libhsa-runtime64)                hsa_amd_pointer_info
 *   Level Zero (libze_loader)                   the kernel: can it be read?
 *
 * Managed memory is the processor's, too: it comes when it is touched. Level
 * Zero answers for one of the program's contexts, which we do not know.
 */
#ifndef SW_DEVICE_MEMORY_H
#define SW_DEVICE_MEMORY_H

#include "node/base/base.h"

/* `count` points to the linker's count of loaded objects, or to a word that
 * differs from `seen` for good: then every question is asked.
 *
 * Memory order: `seen` is stored before `count` (release, acquire). A reader
 * that sees a new count sees what belongs to it, or something older, which
 * differs, and takes the slow path. A thread that was given a device's address
 * was so after the load of the driver, and reads at least that count. */
typedef struct {
    _Atomic(const _Atomic uint64_t *) count;
    _Atomic uint64_t seen;
} sw_device_watch_t;
SW_API extern sw_device_watch_t sw_device_watch;

/* Early in the process's life: begins to watch what is loaded. */
void sw_device_start(void);

/* May a driver be there? */
static inline bool sw_device_possible(void)
{
    const _Atomic uint64_t *count = atomic_load_explicit(&sw_device_watch.count,
                                                         memory_order_acquire);
    return sw_unlikely(
        atomic_load_explicit(count, memory_order_relaxed) !=
        atomic_load_explicit(&sw_device_watch.seen, memory_order_relaxed));
}

/* Is a driver there? Looks, if anything was loaded. */
SW_API bool sw_device_present(void);

SW_API bool sw_device_holds_slow(const void *at);

/* Does a device hold the byte at `at`, out of the processor's reach? */
static inline bool sw_device_holds(const void *at)
{
    return sw_device_possible() && sw_device_holds_slow(at);
}

#endif
