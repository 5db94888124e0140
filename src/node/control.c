/*
 * control.c - see control.h.
 */
#include "control.h"

_Atomic int sw_accelerate_switch = SW_ACCELERATE_UNSERVED;
void (*sw_control_alone)(bool alone);

int sw_accelerate_to(int state)
{
    int before = atomic_load(&sw_accelerate_switch);
    if (before < 0 || state < 0)
        return before;
    bool alone = state == SW_ACCELERATE_ALONE;
    if (sw_control_alone && alone != (before == SW_ACCELERATE_ALONE))
        sw_control_alone(alone);
    atomic_store(&sw_accelerate_switch, alone ? state : state != 0);
    return before;
}
