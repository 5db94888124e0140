/*
 * random_device.h - buffers in memory of a device (mpi/base/gpu_memory.h), for
 * programs that draw many of them.
 *
 * Blocks are kept and taken again. Ranks of odd numbers have a current context,
 * as CUDA's runtime makes one. They free a block now and then, so that its
 * number becomes another's. The other ranks have none.
 */
#ifndef RANDOM_DEVICE_H
#define RANDOM_DEVICE_H

#include "mpi/base/gpu_memory.h"

#define DEVICES_MAX 64

typedef struct {
    char *at, *seen; /* the device's address, and where the test finds it */
    size_t bytes;
    bool taken;
} device_t;

static device_t devices[DEVICES_MAX];
static bool device_current; /* has this thread a context? */

static void device_begin(const char *library)
{
    device_load(library);
    CHECK(device_allocate(4096, 0), "no memory of the device");
    device_current = world_rank % 2;
    if (device_current)
        device_make_current();
}

/* A block that no call has; NULL: all are taken. */
static device_t *device_take(size_t bytes)
{
    device_t *free_one = NULL;
    for (int i = 0; i < DEVICES_MAX; i++) {
        device_t *d = &devices[i];
        if (d->taken)
            continue;
        if (d->bytes >= bytes) {
            d->taken = true;
            return d;
        }
        if (!free_one || (free_one->at && !d->at))
            free_one = d;
    }
    if (!free_one)
        return NULL;
    if (free_one->at && device_current)
        device_free(free_one->at);
    *free_one = (device_t){.bytes = bytes + bytes / 2, .taken = true};
    free_one->at = device_allocate(free_one->bytes, 0);
    CHECK(free_one->at, "no memory of the device");
    free_one->seen = device_alias(free_one->at);
    return free_one;
}

/* What the driver has been asked for, by all ranks together. */
static void device_report(void)
{
    static const char *const call[] = {"cuLaunchKernel",
                                       "cuIpcOpenMemHandle_v2"};
    long mine[LENGTH(call)], all[LENGTH(call)];
    for (size_t i = 0; i < LENGTH(call); i++)
        mine[i] = (long)device_count(call[i]);
    MPI_Reduce(mine, all, LENGTH(call), MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("launches %ld, openings %ld\n", all[0], all[1]);
}

#endif
