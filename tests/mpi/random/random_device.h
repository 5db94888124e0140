/*
 * random_device.h - buffers in memory of a device, which is the stand-in's for
 * CUDA's driver (tests/device/standin/cuda/). The processor faults on the
 * device's addresses; the test reads and writes by another mapping.
 *
 * Blocks are kept and taken again. Ranks of odd numbers have a current context,
 * as CUDA's runtime makes one. They free a block now and then, so that its
 * number becomes another's. The other ranks have none.
 */
#ifndef RANDOM_DEVICE_H
#define RANDOM_DEVICE_H

#include "mpi/test.h"

#include <dlfcn.h>

#define DEVICES_MAX 64

typedef struct {
    char *at, *seen; /* the device's address, and where the test finds it */
    size_t bytes;
    bool taken;
} device_t;

static void *device_driver; /* NULL: no device */
static device_t devices[DEVICES_MAX];
static void *(*device_allocate)(size_t bytes, int managed);
static void *(*device_alias)(const void *at);
static uint64_t (*device_count)(const char *call);
static int (*device_free)(unsigned long long at);
static bool device_current; /* has this thread a context? */

static void device_load(const char *library)
{
    static const char *const name[] = {
        "standin_allocate", "standin_alias",   "standin_count",
        "cuMemFree_v2",     "cuCtxSetCurrent", "cuDevicePrimaryCtxRetain"};
    void *found[LENGTH(name)], *context;
    int (*set)(void *), (*retain)(void **, int);
    device_driver = dlopen(library, RTLD_NOW);
    CHECK(device_driver, "%s", dlerror());
    for (size_t i = 0; i < LENGTH(name); i++) {
        found[i] = dlsym(device_driver, name[i]);
        CHECK(found[i], "the driver has no %s", name[i]);
    }
    *(void **)&device_allocate = found[0];
    *(void **)&device_alias = found[1];
    *(void **)&device_count = found[2];
    *(void **)&device_free = found[3];
    *(void **)&set = found[4];
    *(void **)&retain = found[5];
    CHECK(device_allocate(4096, 0), "no memory of the device");
    if (world_rank % 2)
        device_current = !retain(&context, 0) && !set(context);
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
        CHECK(!device_free((uintptr_t)free_one->at), "not freed");
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
