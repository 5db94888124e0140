/*
 * moving.c - see moving.h.
 */
#include "moving.h"

#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

static bool deals(sw_collective_t id)
{
    return id == SW_COLL_SCATTER || id == SW_COLL_SCATTERV ||
           (id >= SW_COLL_ALLTOALL && id <= SW_COLL_ALLTOALLW);
}

static bool collects(sw_collective_t id)
{
    return id != SW_COLL_BCAST && id != SW_COLL_SCATTER &&
           id != SW_COLL_SCATTERV;
}

/* Members send themselves what they get: as in MPI_Alltoall in place. */
static bool copies(const sw_move_t *m)
{
    return m->in_place && deals(m->id) && collects(m->id);
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
    sw_assert((m->s || m->ss || !m->sendcounts.at) &&
              (m->r || m->rs || !m->recvcounts.at));
    sw_vector_t *all[] = {&m->sendcounts, &m->sdispls, &m->recvcounts,
                          &m->rdispls};
    size_t each = (size_t)n * sizeof(int64_t);
    char *at = NULL;
    for (int i = 0; i < 4; i++) {
        if (!all[i]->at)
            continue;
        if (!at)
            at = memory(room, 4 * each);
        memcpy(at + (size_t)i * each, all[i]->at, (size_t)n * all[i]->width);
        all[i]->at = at + (size_t)i * each;
    }
}

void sw_moving_hold(sw_moving_t *v, sw_move_t *m, int n)
{
    sw_types_hold(&m->s, m->s ? 1 : 0);
    sw_types_hold(&m->r, m->r ? 1 : 0);
    sw_types_hold(m->ss, m->ss ? n : 0);
    sw_types_hold(m->rs, m->rs ? n : 0);
    own(&v->arrays, m, n);
}

void sw_moving_drop(const sw_move_t *m, int n)
{
    sw_types_drop(&m->s, m->s ? 1 : 0);
    sw_types_drop(&m->r, m->r ? 1 : 0);
    sw_types_drop(m->ss, m->ss ? n : 0);
    sw_types_drop(m->rs, m->rs ? n : 0);
}

/* Sides -------------------------------------------------------------------- */

/* Room for what describes n blocks, or `at` as before. */
typedef struct {
    sw_extent_t *list;
    sw_data_t *data;
} room_t;

static void send_side(sw_moving_side_t *x, const sw_move_t *m, int n,
                      MPI_Comm comm, room_t room)
{
    int64_t count = m->sendcount * n;
    x->many = m->sendcounts.at;
    if (x->many) {
        x->list = sw_move_sends(m, n, comm);
        x->blocks = sw_vbuffer_send(&x->list, copies(m), room.list, room.data);
        x->at = x->list.data;
        return;
    }
    if (copies(m))
        sw_buffer_copy(&x->one, m->send, count, m->s, comm);
    else
        sw_buffer_send(&x->one, m->send, count, m->s, comm);
    x->blocks = sw_buffer_rows(&x->one, n, room.data);
    x->at = x->one.data.at;
}

static void recv_side(sw_moving_side_t *x, const sw_move_t *m, int n,
                      MPI_Comm comm, room_t room)
{
    x->many = m->recvcounts.at;
    if (x->many) {
        x->list = sw_move_recvs(m, n, comm);
        x->blocks = sw_vbuffer_receive(&x->list, room.list, room.data);
        x->at = x->list.data;
        return;
    }
    sw_buffer_receive(&x->one, m->recv, m->recvcount * n, m->r, comm);
    x->blocks = sw_buffer_rows(&x->one, n, room.data);
    x->at = x->one.data.at;
}

/* In place, this member's block lies among those that it receives. The host
 * may have to pack it there. */
static void send_own(sw_moving_t *v, const sw_move_t *m, int me, MPI_Comm comm)
{
    const sw_moving_side_t *to = &v->to;
    v->own = sw_block_data(&to->blocks, to->at, me);
    v->from.at = v->own.at;
    v->from.blocks = (sw_blocks_t){.bytes = sw_block(&to->blocks, me).bytes,
                                   .data = v->own.layout ? &v->own : NULL};
    if (to->many && to->list.temporary)
        sw_pack(sw_element(m->recv, sw_at(m->rdispls, me), m->r),
                sw_at(m->recvcounts, me), m->r, v->own.at, comm);
    else if (!to->many && to->one.temporary)
        sw_pack(sw_element(m->recv, me * m->recvcount, m->r), m->recvcount,
                m->r, v->own.at, comm);
}

static room_t room_for(sw_moving_t *v, int n, int side)
{
    size_t lists = 2 * (size_t)n * sizeof(sw_extent_t);
    size_t datas = 2 * (size_t)n * sizeof(sw_data_t);
    char *at = memory(&v->room, lists + datas);
    return (room_t){(sw_extent_t *)(void *)at + side * n,
                    (sw_data_t *)(void *)(at + lists) + side * n};
}

void sw_moving_begin(sw_moving_t *v, const sw_move_t *m, const sw_comm_t *c,
                     sw_pairs_args_t *to)
{
    int n = c->n;
    MPI_Comm comm = sw_comm_or_any(c);
    v->from.used = m->s || m->ss;
    v->to.used = m->r || m->rs;
    v->from.at = v->to.at = NULL;
    v->from.blocks = v->to.blocks = (sw_blocks_t){.bytes = 0};
    if (v->to.used)
        recv_side(&v->to, m, collects(m->id) ? n : 1, comm,
                  room_for(v, n, 0));
    if (v->from.used)
        send_side(&v->from, m, deals(m->id) ? n : 1, comm,
                  room_for(v, n, 1));
    else if (m->in_place && v->to.used)
        send_own(v, m, c->me, comm);
    *to = (sw_pairs_args_t){
        .id = m->id, .root = m->root, .send = v->from.at, .recv = v->to.at,
        .sends = v->from.blocks, .recvs = v->to.blocks,
        .in_place = m->in_place && !copies(m)};
}

void sw_moving_end(sw_moving_t *v, MPI_Comm comm, bool done)
{
    sw_moving_side_t *from = &v->from, *to = &v->to;
    if (from->used && from->many)
        sw_vbuffer_end(&from->list);
    else if (from->used)
        sw_buffer_end(&from->one);
    to->list.comm = to->one.comm = comm;
    if (to->used && to->many && done)
        sw_vbuffer_received(&to->list);
    else if (to->used && to->many)
        sw_vbuffer_end(&to->list);
    else if (to->used && done)
        sw_buffer_received(&to->one);
    else if (to->used)
        sw_buffer_end(&to->one);
}

static bool packs(const sw_moving_side_t *x)
{
    return x->used && (x->many ? x->list.temporary : x->one.temporary);
}

bool sw_moving_packs(const sw_moving_t *v)
{
    return packs(&v->from) || packs(&v->to);
}
