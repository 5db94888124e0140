/*
 * near.c - see near.h.
 */
#include "near.h"

#include "near_receive.h"
#include "near_send.h"
#include "mpi/base/link.h"
#include "node/base/settings.h"

bool sw_near_on, sw_near_there;
int sw_near_tag_max;

bool sw_near_start(void)
{
    void *most;
    int set = 0;
    if (sw_world.places < 2 || !sw_world.at ||
        !sw_world.at[sw_world.place].said.mailbox)
        return false;
    for (int i = 0; i < sw_world.places; i++)
        if (sw_world.at[i].peer)
            sw_mailbox_meet(i, sw_world.at[i].peer,
                            sw_world.at[i].said.mailbox);
    host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &set);
    sw_near_tag_max = set ? *(int *)most : 32767;
    sw_matcher_meet = sw_near_meet;
    sw_near_sends_start();
    return sw_near_on = sw_near_there = true;
}

void sw_near_stop(void)
{
    sw_near_on = sw_near_there = false;
}

/* What a member reaches of the others stands in the roster, alike on all. */
bool sw_near_decide(sw_comm_t *c)
{
    bool near = c->context_id && c->n > 1 && c->reason != SW_REASON_INTER &&
                c->reason != SW_REASON_FOREIGN && sw_comm_members(c) &&
                c->members->all;
    for (int i = 0; near && i < c->n; i++) {
        int place = sw_near_place(c, i);
        const sw_place_t *p = place < 0 ? NULL : &sw_world.at[place];
        near = p && p->said.mailbox && p->reaches_all & SW_AGREE_ARENA &&
               sw_world_is_near(c->members->rank[i]);
    }
    c->near = near ? 1 : -1;
    return near;
}

bool sw_near_turn(bool all)
{
    if (sw_threaded && !sw_match_try())
        return false;
    bool came = sw_matcher_turn(all);
    if (sw_threaded)
        sw_match_leave();
    sw_near_sends_turn();
    return came;
}

void sw_near_progress(void)
{
    sw_near_turn(true);
}

bool sw_near_await(const _Atomic bool *flag)
{
    int left = sw_wait_spins;
    bool lost = false;
#define IS_SET atomic_load_explicit((_Atomic bool *)(uintptr_t)flag, \
                                    memory_order_acquire)
    while (!IS_SET && left-- > 0)
        if (sw_near_turn(false))
            left = sw_wait_spins;
    if (IS_SET)
        return false;
    sw_wait_t wait = {.doorbell = sw_mailbox_doorbell};
    while (!lost) {
        lost = sw_wait_step(&wait);
        sw_near_turn(true);
        if (IS_SET)
            break;
    }
    sw_wait_end(&wait);
    return lost && !IS_SET;
#undef IS_SET
}
