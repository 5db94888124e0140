/*
 * gives.c - blocks that are given away, in virtual time; see virtual.h.
 *
 * All go by value: the program sends the block itself, with an MPI_Isend right
 * after the give has said so. That send is then marked, and a model may know
 * what a block takes that changes hands. Only blocks that are large enough to
 * change hands in a run with Straightway are marked. The engine does not see
 * that a block is one of malloc, which would not.
 */
#include "gives.h"
#include "virtual.h"

#include "node/parcel.h"

static int give(void **block, size_t bytes, int dest, int tag, const void *on)
{
    (void)block, (void)on;
    sw_virtual_thread_t *thread = &sw_virtual_thread;
    thread->gives = bytes >= SW_PARCEL_MIN ? bytes : 0;
    thread->gives_to = dest;
    thread->gives_tag = tag;
    return SW_BY_VALUE;
}

bool sw_virtual_gives(uint64_t bytes, int dest, int tag)
{
    sw_virtual_thread_t *thread = &sw_virtual_thread;
    uint64_t gives = thread->gives;
    thread->gives = 0;
    return gives && gives == bytes && thread->gives_to == dest &&
           thread->gives_tag == tag;
}

static int take(void **block, size_t *bytes, int source, int tag,
                const void *on, void *message, void *status)
{
    (void)block, (void)bytes, (void)source, (void)tag, (void)on;
    (void)message, (void)status;
    return SW_UNMATCHED;
}

static int take_matched(void **block, size_t *bytes, void *message,
                        void *status)
{
    (void)block, (void)bytes, (void)message, (void)status;
    return SW_BY_VALUE;
}

static int itake(void **block, int count, const void *type, int source, int tag,
                 const void *on, void *request)
{
    (void)block, (void)count, (void)type, (void)source, (void)tag, (void)on;
    (void)request;
    return SW_BY_VALUE;
}

const sw_hands_t sw_virtual_hands = {
    .give = give, .take = take, .take_matched = take_matched, .itake = itake};
