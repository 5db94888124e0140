/*
 * way.c - see way.h.
 */
#include "way.h"

#include "node/base/settings.h"
#include "node/control.h"

#include <string.h>

bool sw_way_shows, sw_way_cma;

/* What the user asked for. */
static struct {
    size_t joint, show_after;
    int way;
} usual;

/* The way that STRAIGHTWAY_MESSAGE_WAY asks for; ON: each message its own. */
static int asked_way(void)
{
    static const char *const names[] = {"two-copy", "cma", "one-copy", "joint"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(sw_settings.message_way, names[i]))
            return SW_ACCELERATE_TWO_COPY + i;
    static _Atomic bool said;
    if (strcmp(sw_settings.message_way, "auto"))
        sw_say_once(&said,
                    "STRAIGHTWAY_MESSAGE_WAY=%s is not understood: give "
                    "auto, two-copy, cma, one-copy or joint (the default is "
                    "kept)",
                    sw_settings.message_way);
    return SW_ACCELERATE_ON;
}

void sw_way_start(void)
{
    usual.joint = sw_settings.p2p_joint;
    usual.show_after = sw_settings.show_after;
    usual.way = asked_way();
    sw_way_force(SW_ACCELERATE_ON);
}

void sw_way_force(int state)
{
    state = state < SW_ACCELERATE_TWO_COPY ? usual.way : state;
    bool forced = state >= SW_ACCELERATE_TWO_COPY;
    sw_way_cma = state == SW_ACCELERATE_CMA;
    sw_way_shows = !sw_way_cma && state != SW_ACCELERATE_TWO_COPY;
    sw_settings.p2p_joint = forced && state != SW_ACCELERATE_JOINT
                                ? SIZE_MAX
                                : usual.joint;
    sw_settings.show_after = forced ? 0 : usual.show_after;
}
