/*
 * threshold.c - see threshold.h.
 */
#include "threshold.h"

#include "mpi/base/host.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "p2p/slot.h"

#include <string.h>

size_t sw_threshold_shown_min;
size_t sw_threshold_staged_max, sw_threshold_staged_all;
size_t sw_threshold_scattered_min, sw_threshold_coarse_min;
bool sw_threshold_cma;

/* What suits this host, and what the user asked for. */
static struct {
    size_t least, staged_max, joint, show_after;
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
        sw_say_once(&said, "STRAIGHTWAY_MESSAGE_WAY=%s is not understood: give "
                    "auto, two-copy, cma, one-copy or joint (the default is "
                    "kept)", sw_settings.message_way);
    return SW_ACCELERATE_ON;
}

/* What was measured of each host (docs/performance.md, "The threshold"): from
 * `least` on we win in every pattern, with data that has gaps from `scattered`
 * on, if its pieces are long from `coarse` on. `stages`: two copies of private
 * memory beat it, too. */
void sw_threshold_start(void)
{
    static const struct {
        const char *name;
        size_t least, scattered, coarse;
        bool stages;
    } known[] = {
        {"Open MPI", 4096, 4096, 4096, true},
        {"Intel", 16384, 4096, 6144, false},
        {"MPICH", 8192, 4096, 4096, true},
        {"", 16384, 16384, 16384, false},
    }, *found = known;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    host.Get_library_version(text, &length);
    while (!strstr(text, found->name))
        found++;
    size_t asked = sw_settings.p2p_min
        ? sw_max(sw_settings.p2p_min, SW_DESCRIPTOR_BYTES) : 0;
    sw_settings.p2p_min = asked ? asked : found->least;
    sw_threshold_scattered_min = asked ? asked : found->scattered;
    sw_threshold_coarse_min = asked ? asked : found->coarse;
    usual.least = sw_settings.p2p_min;
    usual.staged_max = found->stages ? SW_STAGED_MAX : 0;
    usual.joint = sw_settings.p2p_joint;
    usual.show_after = sw_settings.show_after;
    usual.way = asked_way();
    sw_threshold_force(SW_ACCELERATE_ON);
}

void sw_threshold_force(int state)
{
    state = state < SW_ACCELERATE_TWO_COPY ? usual.way : state;
    bool two = state == SW_ACCELERATE_TWO_COPY;
    bool forced = state >= SW_ACCELERATE_TWO_COPY;
    sw_threshold_cma = state == SW_ACCELERATE_CMA;
    sw_settings.p2p_min = forced ? SW_DESCRIPTOR_BYTES : usual.least;
    sw_settings.p2p_joint = forced && state != SW_ACCELERATE_JOINT
        ? SIZE_MAX : usual.joint;
    sw_settings.show_after = forced ? 0 : usual.show_after;
    sw_threshold_shown_min = two || sw_threshold_cma ? SIZE_MAX
                                                     : sw_settings.p2p_min;
    sw_threshold_staged_max = two ? SIZE_MAX : usual.staged_max;
    sw_threshold_staged_all = two ? SIZE_MAX : SW_STAGED_ALL;
}
