/* p2p/take.c: the receiver copies what the sender offers, and the sender has
 * its buffer back when it is taken. */
#include "weak.h"

#include "p2p/take.c"

static sw_takers_t takers;
static sw_slot_t slot;
static uint64_t buffer, target;
static sw_peer_t peer;

bool sw_peer_turn(const sw_peer_t *is, unsigned *turns)
{
    NEVER;
    return is && *turns;
}

int sw_data_find(const sw_peer_t *owner, const sw_shown_t *shown, size_t bytes,
                 sw_data_t *to)
{
    (void)owner;
    (void)bytes;
    to->at = (char *)shown->at;
    to->layout = NULL;
    return 0;
}

void sw_data_done(const sw_data_t *found)
{
    (void)found;
}

bool sw_joint_open(sw_joint_t *j, const sw_data_t *from, const sw_data_t *to,
                   size_t bytes)
{
    (void)j;
    (void)from;
    (void)to;
    (void)bytes;
    return false;
}

void sw_move(const sw_data_t *from, const sw_data_t *to, size_t begin,
             size_t end, size_t whole)
{
    (void)begin;
    (void)end;
    (void)whole;
    *(uint64_t *)(void *)to->at = *(uint64_t *)(void *)from->at;
}

static void *sender(void *unused)
{
    buffer = 1;
    slot.bytes = 8;
    slot.shown.at = (uint64_t)&buffer;
    atomic_store_explicit(&slot.ready, 8, memory_order_relaxed);
    sw_slot_set(&slot, 0, SW_SLOT_OFFERED);
    if (!sw_slot_released(&slot))
        NEVER;
    buffer = 2;
    return unused;
}

static void *receiver(void *unused)
{
    const sw_target_t to = {{.at = (char *)&target}, 8};
    peer.control = (char *)&takers;
    sw_slot_take(&peer, &slot, &to);
    assert(target == 1);
    return unused;
}

int main(void)
{
    run(sender, receiver);
}
