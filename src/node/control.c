/*
 * control.c - see control.h.
 */
#include "control.h"

#include "node/base/settings.h"

#include <string.h>

_Atomic int sw_accelerate_switch = SW_ACCELERATE_UNSERVED;
_Atomic int sw_forced_way = SW_FORCE_AUTO;
void (*sw_control_messages)(int state);

void sw_control_load(void)
{
    static const char *const names[] = {"auto", "host", "leaders", "lanes"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(sw_settings.span_way, names[i])) {
            atomic_store(&sw_forced_way, i);
            return;
        }
    static _Atomic bool said;
    sw_say_once(&said,
                "STRAIGHTWAY_SPAN_WAY=%s is not understood: give auto, "
                "host, leaders or lanes (the default is kept)",
                sw_settings.span_way);
}

int sw_control_accelerate(int state)
{
    int before = atomic_load(&sw_accelerate_switch);
    if (before < 0 || state < 0)
        return before;
    static _Atomic int way = SW_ACCELERATE_ON;
    bool own = state != SW_ACCELERATE_OFF && state < SW_ACCELERATE_TWO_COPY;
    int next = own ? SW_ACCELERATE_ON : state;
    if (sw_control_messages && next != atomic_exchange(&way, next))
        sw_control_messages(next);
    if (state == SW_ACCELERATE_LEADERS || state == SW_ACCELERATE_LANES)
        atomic_store(&sw_forced_way, state == SW_ACCELERATE_LANES
                                         ? SW_FORCE_LANES
                                         : SW_FORCE_LEADERS);
    else
        sw_control_load();
    atomic_store(&sw_accelerate_switch, state != 0);
    return before;
}
