/* p2p/joint.c: both parties copy, each piece once, and all is there. */
#include "weak.h"

#include "p2p/joint.c"

static sw_joint_t joint;
static _Atomic uint32_t state; /* the slot's */
static uint64_t source[2], target[2];

bool sw_peer_turn(const sw_peer_t *is, unsigned *turns)
{
    NEVER;
    return is && *turns;
}

int sw_data_find(const sw_peer_t *owner, const sw_shown_t *shown, size_t bytes,
                 sw_data_t *to)
{
    (void)owner;
    (void)shown;
    (void)bytes;
    to->at = (char *)target;
    return 0;
}

void sw_data_done(const sw_data_t *found)
{
    (void)found;
}

void sw_move(const sw_data_t *from, const sw_data_t *to, size_t begin,
             size_t end, size_t whole)
{
    (void)from;
    (void)to;
    (void)whole;
    for (size_t i = begin / 8; i < end / 8; i++)
        target[i] = source[i];
}

static void *receiver(void *unused)
{
    const sw_data_t from = {.at = (char *)source}, to = {.at = (char *)target};
    target[0] = target[1] = 9;
    joint.bytes = 16;
    joint.piece = 8;
    atomic_store_explicit(&joint.ends, 2, memory_order_relaxed);
    atomic_store_explicit(&state, 1, memory_order_release);
    sw_joint_pull(&joint, NULL, &from, &to);
    assert(target[0] == 1 && target[1] == 2);
    return unused;
}

static void *sender(void *unused)
{
    const sw_data_t from = {.at = (char *)source};
    if (atomic_load_explicit(&state, memory_order_acquire))
        sw_joint_push(&joint, NULL, &from);
    return unused;
}

int main(void)
{
    source[0] = 1;
    source[1] = 2;
    run(receiver, sender);
}
