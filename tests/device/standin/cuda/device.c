/*
 * device.c - how the driver begins, and the devices, which have no more than a
 * number.
 */
#include "inside.h"

#include <stdio.h>

bool device_exists(int device)
{
    return device >= 0 && device < settings.devices;
}

EXPORTED int cuInit(unsigned flags)
{
    CALL(ALWAYS);
    if (flags)
        return INVALID_VALUE;
    return call_begin() ? 0 : NOT_INITIALIZED;
}

EXPORTED int cuDriverGetVersion(int *version)
{
    CALL(ALWAYS);
    *version = 13000;
    return 0;
}

EXPORTED int cuDeviceGetCount(int *count)
{
    CALL(DRIVER);
    *count = (int)settings.devices;
    return 0;
}

EXPORTED int cuDeviceGet(int *device, int number)
{
    CALL(DRIVER);
    if (!device_exists(number))
        return INVALID_DEVICE;
    *device = number;
    return 0;
}

EXPORTED int cuDeviceGetName(char *name, int bytes, int device)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    snprintf(name, (size_t)bytes, "stand-in %d", device);
    return 0;
}

EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } known[] = {{1, 1024}, /* threads of a block */
                 {2, 1024}, /* along x */
                 {10, 32},  /* threads of a warp */
                 {16, 4},   /* multiprocessors */
                 {41, 1},   /* one space of addresses */
                 {75, 9},   /* compute capability */
                 {76, 0}};
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return 0;
}

EXPORTED int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    CALL(DRIVER);
    if (!device_exists(device) || !device_exists(peer))
        return INVALID_DEVICE;
    *can = device != peer;
    return 0;
}
