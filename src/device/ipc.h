/*
 * ipc.h - memory of a device that other processes open.
 *
 * The owner exports a place: a few words, which travel in shared memory. A peer
 * opens them, and has an address for its own kernels. Both remember:
 *
 *   owner   the handle of each allocation, by the allocation's id, which the
 *           driver tells. An allocation that is freed and made again at the
 *           same address has another id.
 *   peer    each opening, by the owner and the id. An opening of the same
 *           owner's addresses under another id is of memory that the owner has
 *           freed: it is closed. Of too many openings the one that has rested
 *           longest is closed.
 *
 * The driver keeps memory alive as long as a peer has it open, even past the
 * owner's end. So a peer never reads what is not there, but may keep memory
 * from its owner for a while.
 *
 * The driver refuses memory of pools, managed and virtual memory, what was
 * opened itself, and devices without access to each other. A process cannot
 * open its own memory. The caller then takes another way.
 */
#ifndef SW_DEVICE_IPC_H
#define SW_DEVICE_IPC_H

#include "node/base/base.h"

/* A place in memory of another process's device. It holds no pointer. */
typedef struct {
    char handle[64];
    uint64_t process; /* of the owner: no other has had this number */
    uint64_t id;      /* of the allocation, in its owner */
    uint64_t start;   /* of the allocation, as the owner sees it */
    uint64_t bytes;   /* of the allocation */
    uint64_t offset;  /* of the place in the allocation */
} sw_ipc_t;

#define SW_IPC_OPENINGS 64

/* Describe the place of [at, at + bytes). False: it cannot be exported. */
SW_API bool sw_ipc_export(const void *at, size_t bytes, sw_ipc_t *to);

/* Where this process has a place that `peer` has exported. Kernels and copies
 * may use it in the context of the device memory `beside`; where that is none,
 * in the calling thread's current context, or else in the first device's
 * primary one. The opening stays until sw_ipc_done is given this address. NULL:
 * it is refused. The words of a peer are not believed: a place is never outside
 * of what the driver has opened. */
SW_API void *sw_ipc_open(const sw_ipc_t *from, int peer, const void *beside);
SW_API void sw_ipc_done(const void *at);

/* For tests: openings at present. */
SW_API int sw_ipc_openings(void);

#endif
