/*
 * give.c - straightway_give and straightway_take.
 *
 * A give sends a descriptor (p2p/descriptor.h) whose slot names a parcel, and
 * leaves the slot at once: nobody waits. The host matches it, so any receive,
 * probe or take may get it. The rank that claims the slot holds the parcel.
 *
 * An itake is a receive into a block of the program, which a parcel replaces
 * (receives.h).
 *
 * What cannot go so goes by value: the program's own inline function sends it
 * with MPI_Isend, or receives it with MPI_Mrecv (include/straightway_mpi.h).
 * Profiles and virtual time so see a send and a receive.
 */
#include "give.h"

#include "contract/flavour.h"
#include "mpi/base/raise.h"
#include "mpi/request/track.h"
#include "node/base/settings.h"
#include "node/parcel.h"
#include "fetch.h"
#include "near_give.h"
#include "near_probe.h"
#include "near_receive.h"
#include "receive.h"
#include "receives.h"
#include "route.h"

#include <stdlib.h>
#include <string.h>

sw_give_counts_t sw_give_counts[SW_GIVE_COUNTS];

void sw_give_count(int what, size_t bytes)
{
    sw_give_counts_t *c = &sw_give_counts[what];
    if (sw_likely(!sw_settings.stats))
        return;
    atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->bytes, (int64_t)bytes, memory_order_relaxed);
}

static int by_value(int why, size_t bytes)
{
    sw_give_count(why, bytes);
    return SW_BY_VALUE;
}

static int refuse(MPI_Comm comm, int class, const void *p, const char *why)
{
    sw_say("straightway_give(): %p %s", p, why);
    return sw_raise(comm, class);
}

/* We match what goes on this communicator. */
static int give_near(sw_comm_t *c, MPI_Comm comm, void **block, size_t bytes,
                     int dest, int tag)
{
    int rc;
    if (!sw_near_give(c, comm, *block, bytes, dest, tag, &rc))
        return rc ? rc : by_value(SW_GIVE_ELSEWHERE, bytes);
    sw_give_count(SW_GIVE_HANDED, bytes);
    *block = NULL;
    return MPI_SUCCESS;
}

int sw_give(void **block, size_t bytes, int dest, int tag, const void *on)
{
    MPI_Comm comm = *(const MPI_Comm *)on;
    void *p = *block;
    size_t room = 0;
    switch (sw_parcel_look(p, &room)) {
    case SW_PARCEL_NONE:
        return by_value(bytes < SW_PARCEL_MIN ? SW_GIVE_SMALL
                                              : SW_GIVE_FOREIGN, bytes);
    case SW_PARCEL_GONE:
        return refuse(comm, MPI_ERR_BUFFER, p, "is a block that this process "
                      "has given away or freed");
    case SW_PARCEL_INSIDE:
        return refuse(comm, MPI_ERR_BUFFER, p, "is not the beginning of a "
                      "block");
    case SW_PARCEL_HELD:
        break;
    }
    if (bytes > room)
        return refuse(comm, MPI_ERR_COUNT, p, "is a block of fewer bytes than "
                      "the giver names");
    if (bytes < SW_DESCRIPTOR_BYTES)
        return by_value(SW_GIVE_SMALL, bytes);
    sw_comm_t *near = sw_near(comm);
    if (near)
        return give_near(near, comm, block, bytes, dest, tag);
    const sw_parcel_name_t name = sw_parcel_give(p);
    sw_descriptor_t descriptor;
    sw_slot_t *slot = sw_route_parcel(&name, bytes, dest, tag, comm,
                                      &descriptor);
    if (!slot) {
        sw_parcel_keep(p);
        return by_value(SW_GIVE_ELSEWHERE, bytes);
    }
    int rc = host.Send(&descriptor, sizeof descriptor, MPI_BYTE, dest, tag,
                       comm);
    sw_route_sent(slot);
    if (rc != MPI_SUCCESS) {
        sw_route_withdraw(slot);
        sw_parcel_keep(p);
        return rc;
    }
    sw_slot_orphan(slot);
    sw_give_count(SW_GIVE_HANDED, bytes);
    *block = NULL;
    return MPI_SUCCESS;
}

/* 192 bytes that are a message themselves. */
static void *as_they_are(const sw_descriptor_t *d, const sw_matched_t *m,
                         size_t *bytes, int *error)
{
    sw_heard(m->comm, m->source, m->tag);
    void *p = malloc(sizeof *d);
    *bytes = sizeof *d;
    *error = p ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    return p ? memcpy(p, d, sizeof *d) : NULL;
}

/* A matched message that is as long as a descriptor. */
static int take_descriptor(const sw_matched_t *m, void **block, size_t *bytes,
                           MPI_Message *message, MPI_Status *status)
{
    sw_descriptor_t d;
    int error, rc = host.Mrecv(&d, sizeof d, MPI_BYTE, message, status);
    if (rc != MPI_SUCCESS) {
        sw_matched_lost(m);
        return rc;
    }
    if (!sw_fetch_block(&d, block, bytes, &error))
        *block = as_they_are(&d, m, bytes, &error);
    else if (*block)
        sw_status_set_bytes(status, *bytes);
    sw_give_count(SW_GIVE_TAKEN, *bytes);
    return sw_raise_pending(m->comm, error);
}

int sw_take_matched(void **block, size_t *bytes, void *message, void *status)
{
    sw_matched_t m;
    sw_comm_t *c;
    if (sw_near_knows(message, &c)) {
        sw_early_t *early = sw_near_message(message, &c);
        int rc = sw_near_take(c, early, block, bytes, status);
        sw_comm_drop(c);
        return rc;
    }
    if (!sw_linked || !sw_matched_take(message, &m))
        return SW_BY_VALUE;
    int rc = take_descriptor(&m, block, bytes, message, status);
    sw_comm_drop(m.comm);
    return rc;
}

/* The message is received at once, so no probe needs to know its length. */
int sw_take(void **block, size_t *bytes, int source, int tag, const void *on,
            void *message, void *status)
{
    MPI_Comm comm = *(const MPI_Comm *)on;
    MPI_Status *to = status;
    sw_pattern_t pattern;
    sw_comm_t *near;
    sw_early_t *early;
    if (sw_near_probes(&pattern, &near, source, tag, comm)) {
        early = sw_near_await_message(near, &pattern);
        return sw_near_take(near, early, block, bytes, to);
    }
    if (!sw_linked || source == MPI_PROC_NULL || sw_threaded || sw_owing() ||
        near) {
        int rc = sw_MPI_Mprobe(source, tag, comm, message, to);
        return rc ? rc : sw_take_matched(block, bytes, message, to);
    }
    int rc = host.Mprobe(source, tag, comm, message, to);
    if (rc != MPI_SUCCESS)
        return rc;
    sw_comm_t *c = sw_status_bytes(to) == SW_DESCRIPTOR_BYTES
        ? sw_comm_state(comm) : NULL;
    if (!c || !c->context_id || !sw_link(c, to->MPI_SOURCE))
        return SW_BY_VALUE;
    const sw_matched_t m = {.comm = c, .source = to->MPI_SOURCE,
                            .tag = to->MPI_TAG};
    return take_descriptor(&m, block, bytes, message, to);
}

int sw_itake(void **block, int count, const void *type, int source, int tag,
             const void *on, void *request)
{
    MPI_Comm comm = *(const MPI_Comm *)on;
    MPI_Datatype of = *(const MPI_Datatype *)type;
    MPI_Request *to = request;
    sw_comm_t *near = sw_near(comm);
    sw_near_t w;
    int rc = MPI_SUCCESS;
    if (near)
        return sw_near_describe(&w, near, comm, *block, count, of,
                                sw_near_source(source), sw_near_tag(tag),
                                SW_PATTERN_ANY, &rc) && w.type->dense
            ? sw_near_itake(&w, block, to) : rc ? rc : SW_BY_VALUE;
    const sw_datatype_t *d = sw_route_receive(count, of, source, comm);
    if (!d || !d->dense)
        return SW_BY_VALUE;
    const sw_recv_buffer_t in = {.buffer = *block, .count = count, .type = d};
    sw_match_enter();
    rc = host.Irecv(*block, count, of, source, tag, comm, to);
    if (rc == MPI_SUCCESS)
        sw_receive_add_take(*to, &in, sw_comm_state(comm), source, tag, block);
    sw_match_leave();
    return rc;
}
