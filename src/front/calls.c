/*
 * calls.c - what a program may tell the library: the calls of
 * include/straightway.h.
 *
 * A program reaches them by name, as it reaches the MPI stubs. What they change
 * lies in the rooms below.
 */
#define STRAIGHTWAY_LIBRARY
#include <straightway.h>

#include "node/control.h"
#include "profile/record/recorder.h"
#include "profile/record/region.h"

SW_API int straightway_version(void)
{
    return STRAIGHTWAY_VERSION;
}

SW_API int straightway_accelerate(int on)
{
    return sw_accelerate_to(on);
}

/* Something follows the program: a profile, or virtual time. */
static bool is_followed(void)
{
    return atomic_load(&sw_recording) != SW_RECORDING_OFF ||
           atomic_load(&sw_region_changed);
}

SW_API void straightway_region_begin(const char *name)
{
    if (is_followed() && name && *name)
        sw_region_begin(name);
}

SW_API void straightway_region_end(const char *name)
{
    if (is_followed())
        sw_region_end(name);
}

SW_API int straightway_profile(int on)
{
    int now = atomic_load(&sw_recording);
    if (on < 0)
        return now == SW_RECORDING_OFF ? -1 : now == SW_RECORDING_ON;
    return sw_recording_switch(on);
}
