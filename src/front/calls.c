/*
 * calls.c - what a program may tell the library: the calls of
 * include/straightway.h, and what lies behind those of straightway_mpi.h.
 *
 * A program reaches them by name, as it reaches the MPI stubs. What they change
 * lies in the rooms below.
 */
#define STRAIGHTWAY_LIBRARY
#include <straightway.h>

#include "door.h"
#include "node/control.h"
#include "node/parcel.h"
#include "profile/record/recorder.h"
#include "profile/record/region.h"

#include <stdlib.h>

SW_API int straightway_version(void)
{
    return STRAIGHTWAY_VERSION;
}

SW_API int straightway_accelerate(int on)
{
    return sw_control_accelerate(on);
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

/* A block that may be given away, or one of the heap's. */
SW_API void *straightway_library_alloc(size_t bytes)
{
    void *p = bytes < SW_PARCEL_MIN ? NULL : sw_parcel_alloc(bytes);
    return p ? p : malloc(bytes ? bytes : 1);
}

SW_API int straightway_library_give(void **block, size_t bytes, int dest,
                                    int tag, const void *comm)
{
    const sw_hands_t *hands = sw_door_hands();
    return hands ? hands->give(block, bytes, dest, tag, comm) : SW_BY_VALUE;
}

SW_API int straightway_library_take(void **block, size_t *bytes, int source,
                                    int tag, const void *comm, void *message,
                                    void *status)
{
    const sw_hands_t *hands = sw_door_hands();
    return hands ? hands->take(block, bytes, source, tag, comm, message, status)
                 : SW_UNMATCHED;
}

SW_API int straightway_library_itake(void **block, int count, const void *type,
                                     int source, int tag, const void *comm,
                                     void *request)
{
    const sw_hands_t *hands = sw_door_hands();
    return hands ? hands->itake(block, count, type, source, tag, comm, request)
                 : SW_BY_VALUE;
}

SW_API int straightway_library_mtake(void **block, size_t *bytes, void *message,
                                     void *status)
{
    const sw_hands_t *hands = sw_door_hands();
    return hands ? hands->take_matched(block, bytes, message, status)
                 : SW_BY_VALUE;
}
