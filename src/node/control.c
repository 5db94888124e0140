/*
 * control.c - see control.h.
 */
#include "control.h"

#include <straightway.h>

_Atomic int sw_accelerate_switch = -1;
void (*sw_control_alone)(bool alone);

SW_API int straightway_accelerate(int on)
{
    int before = atomic_load(&sw_accelerate_switch);
    if (before < 0 || on < 0)
        return before;
    bool alone = on == STRAIGHTWAY_ALONE;
    if (sw_control_alone && alone != (before == STRAIGHTWAY_ALONE))
        sw_control_alone(alone);
    atomic_store(&sw_accelerate_switch, alone ? on : on != 0);
    return before;
}
