/*
 * driver.h - what a driver's library can be asked about an address.
 */
#ifndef SW_DEVICE_DRIVER_H
#define SW_DEVICE_DRIVER_H

#include "node/base/base.h"

typedef struct {
    const char *library; /* its file name begins so */
    /* The library is loaded: look its functions up; false: it has none. */
    bool (*bind)(void *handle);
    /* Is the memory at `at` a device's, and not the processor's? */
    bool (*holds)(const void *at);
} sw_driver_t;

extern const sw_driver_t sw_drivers[];
#define SW_DRIVERS 3

#endif
