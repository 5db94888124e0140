/*
 * control.c - what a program may tell the profile; see
 * include/straightway.h.
 */
#include "recorder.h"
#include "region.h"

#include "straightway.h"

/* By a profile, or in virtual time. */
static bool followed(void)
{
    return atomic_load(&sw_recording) != SW_RECORDING_OFF ||
           atomic_load(&sw_region_changed);
}

SW_API int straightway_profile(int on)
{
    int now = atomic_load(&sw_recording);
    if (on < 0)
        return now == SW_RECORDING_OFF ? -1 : now == SW_RECORDING_ON;
    return sw_recording_switch(on);
}

SW_API void straightway_region_begin(const char *name)
{
    if (followed() && name && *name)
        sw_region_begin(name);
}

SW_API void straightway_region_end(const char *name)
{
    if (followed())
        sw_region_end(name);
}
