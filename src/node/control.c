/*
 * control.c - see control.h.
 */
#include "control.h"

#include <straightway.h>

_Atomic int sw_accelerate_switch = -1;

SW_API int straightway_accelerate(int on)
{
    int before = atomic_load(&sw_accelerate_switch);
    if (before >= 0 && on >= 0)
        atomic_store(&sw_accelerate_switch, on != 0);
    return before;
}
