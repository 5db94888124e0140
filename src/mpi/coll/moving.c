/*
 * moving.c - see moving.h.
 */
#include "moving.h"

#include "mpi/base/reach.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* Members send themselves what they get: as in MPI_Alltoall in place. */
static bool copies(const sw_move_t *m, sw_collective_t id)
{
    return m->in_place && sw_move_deals(id) && sw_move_collects(id);
}

/* Arguments ---------------------------------------------------------------- */

static void *memory(sw_scratch_t *s, size_t bytes)
{
    void *at = sw_scratch(s, bytes);
    if (!at) {
        sw_say("out of memory for a nonblocking collective");
        abort();
    }
    return at;
}

/* Copies the program's arrays. */
static void own(sw_scratch_t *room, sw_move_t *m, int n)
{
    size_t each = (size_t)n * sizeof(int64_t);
    char *at = NULL;
    for (int i = 0; i < 2; i++) {
        sw_half_t *p = i ? &m->in : &m->out;
        if (!sw_half_is_list(p))
            continue;
        if (!at)
            at = memory(room, 4 * each);
        sw_vector_t *const all[] = {&p->counts, &p->displs};
        for (int j = 0; j < 2; j++, at += each) {
            memcpy(at, all[j]->at, (size_t)n * all[j]->width);
            all[j]->at = at;
        }
    }
}

static void hold(const sw_half_t *p, int n)
{
    if (p->form == SW_HALF_EACH)
        sw_vector_types_hold(p->types, n);
    else
        sw_vector_types_hold(&p->type, p->form != SW_HALF_NONE);
}

static void drop(const sw_half_t *p, int n)
{
    if (p->form == SW_HALF_EACH)
        sw_vector_types_drop(p->types, n);
    else
        sw_vector_types_drop(&p->type, p->form != SW_HALF_NONE);
}

void sw_moving_hold(sw_moving_t *v, sw_move_t *m, int n)
{
    hold(&m->out, n);
    hold(&m->in, n);
    own(&v->arrays, m, n);
}

void sw_moving_drop(const sw_move_t *m, int n)
{
    drop(&m->out, n);
    drop(&m->in, n);
}

/* Sides -------------------------------------------------------------------- */

/* Room for what describes n blocks. */
typedef struct {
    sw_extent_t *list;
    sw_data_t *data;
} room_t;

/* Field by field: what is read as a whole right after it was written in parts
 * costs a processor some ten nanoseconds. */
static void set(sw_blocks_t *to, size_t bytes, const sw_data_t *data)
{
    to->bytes = bytes;
    to->list = NULL;
    to->data = data;
}

static void rows(const sw_buffer_t *b, const sw_half_t *p, int n,
                 sw_data_t *data, sw_blocks_t *to)
{
    bool gaps = b->data.layout;
    for (int i = 0; sw_unlikely(gaps) && i < n; i++)
        data[i] = (sw_data_t){sw_buffer_element(b->user, i * p->count, p->type),
                              b->data.layout, p->count};
    set(to, (size_t)p->count * p->type->size, gaps ? data : NULL);
}

/* Rows of a dense type are the user's memory: most calls of most programs need
 * no buffer beside it, and nothing at the end. */
static inline bool is_plain(const sw_half_t *p)
{
    return p->form == SW_HALF_ROWS && p->type->dense &&
           !(p->count && sw_out_of_reach(p->buffer, p->type));
}

/* `copy`: what is sent is copied first. */
static void send_side(sw_moving_side_t *x, const sw_half_t *p, int n, bool copy,
                      MPI_Comm comm, room_t room, sw_coll_move_t *to)
{
    if (sw_half_is_list(p)) {
        x->list = sw_half_blocks(p, n, comm);
        to->sends = sw_vbuffer_send(&x->list, copy, room.list, room.data);
        to->send = x->list.data;
        return;
    }
    (copy ? sw_buffer_copy : sw_buffer_send)(&x->one, p->buffer, p->count * n,
                                             p->type, comm);
    rows(&x->one, p, n, room.data, &to->sends);
    to->send = x->one.data.at;
}

static void recv_side(sw_moving_side_t *x, const sw_half_t *p, int n,
                      MPI_Comm comm, room_t room, sw_coll_move_t *to)
{
    if (sw_half_is_list(p)) {
        x->list = sw_half_blocks(p, n, comm);
        to->recvs = sw_vbuffer_receive(&x->list, room.list, room.data);
        to->recv = x->list.data;
        return;
    }
    sw_buffer_receive(&x->one, p->buffer, p->count * n, p->type, comm);
    rows(&x->one, p, n, room.data, &to->recvs);
    to->recv = x->one.data.at;
}

/* In place, this member's block lies among those that it receives. The host
 * may have to pack it there. */
static void send_own(sw_moving_t *v, const sw_half_t *in, int me, MPI_Comm comm,
                     sw_coll_move_t *k)
{
    v->own = sw_block_data(&k->recvs, k->recv, me);
    k->send = v->own.at;
    set(&k->sends, sw_block(&k->recvs, me).bytes,
        v->own.layout ? &v->own : NULL);
    if (sw_half_is_list(in) && v->to.list.temporary)
        sw_pack(sw_buffer_element(in->buffer, sw_counts_at(in->displs, me),
                                  in->type),
                sw_counts_at(in->counts, me), in->type, v->own.at, comm);
    else if (v->to.form == SW_HALF_ROWS && v->to.one.temporary)
        sw_pack(sw_buffer_element(in->buffer, me * in->count, in->type),
                in->count, in->type, v->own.at, comm);
}

static bool needs_room(const sw_half_t *p)
{
    return sw_half_is_list(p) || (p->form == SW_HALF_ROWS && !p->type->dense);
}

/* Room for the description of all blocks: of both sides first the data, then
 * the extents. Blocks of one dense type in a row need none. */
static void *room_for(sw_moving_t *v, sw_coll_call_t *k)
{
    size_t bytes = 2 * (size_t)k->c->n *
                   (sizeof(sw_data_t) + sizeof(sw_extent_t));
    if (sw_likely(!needs_room(&k->move.out) && !needs_room(&k->move.in)))
        return NULL;
    void *few = sw_call_few(k, bytes);
    return few ? few : memory(&v->room, bytes);
}

static room_t room_of(void *room, int n, int side)
{
    sw_data_t *data = room;
    sw_extent_t *list = room ? (sw_extent_t *)(void *)(data + 2 * n) : NULL;
    return room ? (room_t){list + side * n, data + side * n} : (room_t){0};
}

void sw_moving_begin(sw_moving_t *v, sw_coll_call_t *k, MPI_Comm comm,
                     sw_coll_move_t *to)
{
    const sw_move_t *m = &k->move;
    int n = k->c->n;
    bool copy = copies(m, k->id);
    void *room = room_for(v, k);
    bool plain_in = is_plain(&m->in), plain_out = !copy && is_plain(&m->out);
    v->from.form = plain_out ? SW_HALF_NONE : m->out.form;
    v->to.form = plain_in ? SW_HALF_NONE : m->in.form;
    to->id = k->id;
    to->root = m->root;
    to->in_place = m->in_place && !copy;
    to->recv = plain_in ? m->in.buffer : NULL;
    set(&to->recvs, plain_in ? (size_t)m->in.count * m->in.type->size : 0,
        NULL);
    to->send = plain_out ? m->out.buffer : NULL;
    set(&to->sends, plain_out ? (size_t)m->out.count * m->out.type->size : 0,
        NULL);
    if (v->to.form != SW_HALF_NONE)
        recv_side(&v->to, &m->in, sw_move_collects(k->id) ? n : 1, comm,
                  room_of(room, n, 0), to);
    if (v->from.form != SW_HALF_NONE)
        send_side(&v->from, &m->out, sw_move_deals(k->id) ? n : 1, copy, comm,
                  room_of(room, n, 1), to);
    else if (m->in_place && m->out.form == SW_HALF_NONE &&
             m->in.form != SW_HALF_NONE)
        send_own(v, &m->in, k->c->me, comm, to);
}

void sw_moving_end(sw_moving_t *v, MPI_Comm comm, bool done)
{
    sw_moving_side_t *from = &v->from, *to = &v->to;
    if (from->form == SW_HALF_ROWS)
        sw_buffer_end(&from->one);
    else if (from->form != SW_HALF_NONE)
        sw_vbuffer_end(&from->list);
    if (to->form == SW_HALF_ROWS) {
        to->one.comm = comm;
        (done ? sw_buffer_received : sw_buffer_end)(&to->one);
    } else if (to->form != SW_HALF_NONE) {
        to->list.comm = comm;
        (done ? sw_vbuffer_received : sw_vbuffer_end)(&to->list);
    }
}

static bool packs(const sw_moving_side_t *x)
{
    return x->form != SW_HALF_NONE &&
           (x->form == SW_HALF_ROWS ? x->one.temporary : x->list.temporary);
}

bool sw_moving_packs(const sw_moving_t *v)
{
    return packs(&v->from) || packs(&v->to);
}
