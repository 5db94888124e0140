/*
 * fetch.c - see fetch.h.
 */
#include "fetch.h"

#include "mpi/base/buffer.h"
#include "node/base/settings.h"
#include "mpi/base/datatype.h"
#include "mpi/base/comm.h"
#include "doubt.h"
#include "mpi/base/link.h"
#include "p2p/tally.h"

#include <stdlib.h>
#include <string.h>

sw_recv_buffer_t sw_recv_buffer_slow(void *buffer, int64_t count,
                                     const sw_datatype_t *type)
{
    sw_recv_buffer_t in = {.buffer = buffer, .count = count, .type = type};
#ifndef OMPI_MAJOR_VERSION
    if (!type->dense && type->layout && sw_recv_buffer_is_large(&in) &&
        sw_recv_buffer_room(&in) <= INT32_MAX)
        in.block = sw_temporary(sw_recv_buffer_room(&in));
#endif
    in.away = sw_out_of_reach(buffer, type);
    if (in.away)        /* the host needs the type for as long as we do */
        atomic_store(&((sw_datatype_t *)(uintptr_t)type)->bound, true);
    return in;
}

/* The first bytes of what has arrived, by signature. */
static void peek(const sw_recv_buffer_t *in, const sw_comm_t *c,
                 sw_descriptor_t *to)
{
    const void *buffer = in->buffer;
    const sw_datatype_t *type = in->type;
    if (in->block || (type->dense && !in->away)) {
        memcpy(to, in->block ? in->block : buffer, sizeof *to);
        return;
    }
    if (type->layout && !in->away) {
        sw_layout_pack(type->layout, buffer, in->count, 0, sizeof *to, to);
        return;
    }
    int64_t n = (int64_t)((sizeof *to + type->size - 1) / type->size);
    n = n < in->count ? n : in->count;
    char *bytes = sw_temporary((size_t)n * type->size);
    sw_pack(buffer, n, type, bytes, sw_comm_or_any(c));
    memcpy(to, bytes, sizeof *to);
    sw_temporary_free(bytes);
}

/* Whole elements are unpacked; of a last one in parts, the rest stays. */
static void spread(const char *data, size_t bytes, void *buffer,
                   const sw_datatype_t *type, MPI_Comm comm)
{
    int64_t whole = (int64_t)(bytes / type->size);
    size_t rest = bytes % type->size;
    sw_unpack(data, buffer, whole, type, comm);
    if (rest) {
        char *one = sw_temporary(type->size);
        void *at = sw_element(buffer, whole, type);
        sw_pack(at, 1, type, one, comm);
        memcpy(one, data + (size_t)whole * type->size, rest);
        sw_unpack(one, at, 1, type, comm);
        sw_temporary_free(one);
    }
}

void sw_recv_buffer_spread(const sw_recv_buffer_t *in, size_t bytes,
                           const sw_comm_t *c)
{
    bytes = sw_min(bytes, sw_recv_buffer_room(in));
    if (in->away)
        spread(in->block, bytes, in->buffer, in->type, sw_comm_or_any(c));
    else
        sw_layout_unpack(in->type->layout, in->buffer, in->count, 0, bytes,
                         in->block);
}

/* The slot of a descriptor, if that is what it is. */
static sw_slot_t *offered(const sw_descriptor_t *d, const sw_link_t **link)
{
    if (sw_likely(!sw_descriptor_valid(d, &sw_link_cookie)))
        return NULL;
    if (d->given.at)
        sw_parcel_prefetch(&d->given);
    *link = sw_link_at(d->source);
    return *link ? sw_slot_of((*link)->peer, d, sw_world.place) : NULL;
}

/* Fetched, with rc: *bytes and *error. */
static void conclude(int rc, const sw_descriptor_t *d, size_t room,
                     size_t *bytes, int *error)
{
    *bytes = sw_min(room, d->bytes);
    *error = rc ? MPI_ERR_OTHER
             : d->bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    static _Atomic bool said;
    if (rc)
        sw_say_once(&said, "a message of %llu bytes could not be fetched from "
                    "its sender: %m", (unsigned long long)d->bytes);
}

static void note_taken(const sw_descriptor_t *d, const sw_slot_t *slot)
{
    if (sw_in_doubt(slot->tag))
        sw_tally_raise(&sw_last_taken, slot->context_id, d->source, slot->tag,
                       slot->order);
}

bool sw_fetch(const sw_recv_buffer_t *in, const sw_comm_t *c, size_t *bytes,
              int *error)
{
    sw_descriptor_t d;
    const sw_datatype_t *type = in->type;
    size_t room = sw_recv_buffer_room(in);
    if (room < sizeof d)
        return false;
    peek(in, c, &d);
    const sw_link_t *link;
    sw_slot_t *slot = offered(&d, &link);
    if (sw_likely(!slot))
        return false;
    int rc;
    unsigned channel = sw_channel(slot->context_id, slot->tag);
    note_taken(&d, slot);
    size_t n = sw_min(room, d.bytes);
    sw_target_t to = {.room = room,
                      .data = {.at = in->buffer, .count = in->count,
                               .layout = type->dense ? NULL : type->layout}};
    if ((type->dense || type->layout) && !in->away) {
        rc = sw_slot_take(link->peer, slot, &to);
    } else {
        to = (sw_target_t){.data = {.at = sw_temporary(n)}, .room = n};
        rc = sw_slot_take(link->peer, slot, &to);
        if (rc == 0)
            spread(to.data.at, n, in->buffer, type, sw_comm_or_any(c));
        sw_temporary_free(to.data.at);
    }
    sw_ledger_take(d.source, channel);
    conclude(rc, &d, room, bytes, error);
    return true;
}

bool sw_fetch_early(void *buffer, size_t room, void *head, size_t *bytes,
                    int *error)
{
    sw_descriptor_t d;
    if (room < sizeof d)
        return false;
    memcpy(&d, buffer, sizeof d);
    const sw_link_t *link;
    sw_slot_t *slot = offered(&d, &link);
    if (!slot)
        return false;
    unsigned channel = sw_channel(slot->context_id, slot->tag);
    int rc = sw_slot_take_apart(link->peer, slot, head, buffer, room);
    sw_ledger_take(d.source, channel);
    conclude(rc, &d, room, bytes, error);
    return true;
}

void *sw_fetch_parcel(const sw_recv_buffer_t *in, size_t *bytes)
{
    sw_descriptor_t d;
    const sw_link_t *link;
    memcpy(&d, in->buffer, sizeof d);
    sw_slot_t *slot = offered(&d, &link);
    if (!slot || !sw_slot_gives(slot) || d.bytes > sw_recv_buffer_room(in))
        return NULL;
    unsigned channel = sw_channel(slot->context_id, slot->tag);
    note_taken(&d, slot);
    void *p = sw_slot_accept(slot);
    *bytes = d.bytes;
    if (p)
        sw_ledger_take(d.source, channel);
    return p;
}

/* A block for what is not given away, or out of reach. */
static void *copied(const sw_link_t *link, sw_slot_t *slot, size_t n,
                    int *error)
{
    void *to = sw_parcel_alloc(n);
    if (!to && !(to = malloc(n))) {
        *error = MPI_ERR_NO_MEM;
        sw_slot_refuse(link->peer, slot);
        return NULL;
    }
    const sw_target_t all = {.data = {.at = to}, .room = n};
    size_t bytes;
    sw_descriptor_t d = {.bytes = n};
    conclude(sw_slot_take(link->peer, slot, &all), &d, n, &bytes, error);
    if (*error == MPI_SUCCESS)
        return to;
    free(to);
    return NULL;
}

bool sw_fetch_block(const sw_descriptor_t *d, void **block, size_t *bytes,
                    int *error)
{
    const sw_link_t *link;
    sw_slot_t *slot = offered(d, &link);
    if (sw_unlikely(!slot))
        return false;
    unsigned channel = sw_channel(slot->context_id, slot->tag);
    note_taken(d, slot);
    *error = MPI_SUCCESS;
    *bytes = d->bytes;
    *block = sw_slot_gives(slot) ? sw_slot_accept(slot) : NULL;
    if (!*block)
        *block = copied(link, slot, d->bytes, error);
    sw_ledger_take(d->source, channel);
    return true;
}

void sw_heard(sw_comm_t *c, int source, int tag)
{
    const sw_link_t *link = c && c->context_id ? sw_link(c, source) : NULL;
    if (link)
        sw_ledger_hear(link->place, sw_channel(c->context_id, tag));
}

int sw_received_slow(const sw_recv_buffer_t *in, sw_comm_t *c,
                     MPI_Status *status)
{
    size_t bytes;
    int error = MPI_SUCCESS;
    size_t come = sw_status_bytes(status);
    if (come == SW_DESCRIPTOR_BYTES && sw_fetch(in, c, &bytes, &error)) {
        sw_status_set_bytes(status, bytes);
    } else {
        if (come == SW_DESCRIPTOR_BYTES)
            sw_heard(c, status->MPI_SOURCE, status->MPI_TAG);
        if (in->block && come != SIZE_MAX)
            sw_recv_buffer_spread(in, come, c);
    }
    sw_temporary_free(in->block);
    return error;
}
