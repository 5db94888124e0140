/*
 * regions.c - the program's regions (profile/record/region.h) in virtual time:
 * the sections of its operations.
 *
 * Where a region begins or ends, the thread puts what it computed before, and
 * then the section. Regions are the process's, and any thread may name one. But
 * a thread that never calls MPI has no time of the rank's. And where threads do
 * not call at once, only the one whose turn it is may put something. The
 * regions of the other threads go behind that thread's next computation.
 */
#include "virtual.h"

#include "profile/record/region.h"

static void changed(uint32_t number)
{
    SW_VIRTUAL;
    bool turn = !sw_virtual_turns || sw_virtual_turn_try();
    bool mine = sw_virtual_thread.left &&
                (!sw_virtual_shared || sw_virtual_thread.clock);
    bool follows = turn && mine && sw_virtual_begin(&v, &sw_from);
    sw_virtual_section(number, follows);
    if (turn && sw_virtual_turns)
        sw_virtual_turn_give();
}

void sw_virtual_regions_start(void)
{
    atomic_store(&sw_region_changed, changed);
}

void sw_virtual_regions_stop(void)
{
    atomic_store(&sw_region_changed, NULL);
}

/* Of a recording that could be paused there is none. */
int sw_virtual_MPI_Pcontrol(const int level, ...)
{
    if (level < 0 || level > 1)
        sw_region_level(level);
    return MPI_SUCCESS;
}
