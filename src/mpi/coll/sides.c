/*
 * sides.c - see sides.h.
 */
#include "sides.h"

static const int nowhere = SW_NOBODY;

/* An edge that leads somewhere, if one does. */
static const int *any_edge(const sw_neighbours_t *all)
{
    for (int i = 0; i < all->outs; i++)
        if (all->out[i] != SW_NOBODY)
            return &all->out[i];
    return &nowhere;
}

bool sw_sides_set(sw_sides_t *k, sw_comm_t *c, sw_collective_t id,
                  const sw_side_args_t *out, const sw_side_args_t *in,
                  sw_reason_t *reason)
{
    const sw_neighbours_t *all = sw_adjacency(c, reason);
    bool gathers = sw_sides_gather(id);
    if (!all)
        return false;
    k->all = all;
    k->out.args = *out;
    k->in.args = *in;
    k->out.n = gathers ? 1 : all->outs;
    k->out.edge = gathers ? any_edge(all) : all->out;
    k->in.n = all->ins;
    k->in.edge = all->in;
    return true;
}

/* Reads counts and places. False: the host is to judge. */
static bool read_counts(const sw_side_t *x, int64_t *counts, int64_t *places,
                        bool *anybody, bool *any)
{
    const sw_side_args_t *a = &x->args;
    bool row = a->form == SW_SIDE_ROW;
    *anybody = *any = false;
    if (a->user == MPI_IN_PLACE ||
        (x->n && !row && (!a->counts.at || !a->displacements.at)))
        return false;
    for (int i = 0; i < x->n; i++) {
        int64_t count = row ? a->count : sw_counts_at(a->counts, i);
        counts[i] = x->edge[i] == SW_NOBODY ? 0 : count;
        places[i] = row ? i * count : sw_counts_at(a->displacements, i);
        if (counts[i] < 0)
            return false;
        *anybody |= x->edge[i] != SW_NOBODY;
        *any |= counts[i] > 0;
    }
    return true;
}

/* One side. The arrays have at least one entry each. */
static bool check(sw_side_t *x, sw_side_room_t *room, MPI_Comm comm,
                  int *result)
{
    const sw_side_args_t *a = &x->args;
    bool anybody, any;
    size_t n = (size_t)x->n + 1;
    x->data = (sw_data_t *)(void *)room;
    x->list = (sw_extent_t *)(void *)(x->data + n);
    int64_t *counts = (int64_t *)(void *)(x->list + n), *places = counts + n;
    const sw_datatype_t **known = (const sw_datatype_t **)(void *)(places + n);
    if (!read_counts(x, counts, places, &anybody, &any))
        return false;
    x->buffer = (sw_vbuffer_t){.user = (void *)(uintptr_t)a->user,
                               .counts = SW_VECTOR(counts),
                               .displacements = SW_VECTOR(places),
                               .types = known,
                               .same = a->form != SW_SIDE_EACH,
                               .bytes = a->form == SW_SIDE_EACH,
                               .n = x->n,
                               .comm = comm};
    if (a->form == SW_SIDE_EACH)
        return sw_vector_types_of(a->types, x->buffer.counts, x->n, comm, known,
                                  result);
    known[0] = anybody ? sw_datatype(a->type, comm, result) : &sw_nothing;
    return known[0] && (a->user || !any || !known[0]->dense || !known[0]->size);
}

bool sw_sides_check(sw_sides_t *k, sw_side_room_t *room, MPI_Comm comm,
                    int *result)
{
    return check(&k->in, room, comm, result) &&
           check(&k->out, room + k->in.n + 1, comm, result);
}

void sw_sides_describe(sw_sides_t *k)
{
    sw_side_t *out = &k->out, *in = &k->in;
    out->blocks = sw_vbuffer_send(&out->buffer, false, out->list, out->data);
    in->blocks = sw_vbuffer_receive(&in->buffer, in->list, in->data);
}

void sw_sides_end(sw_sides_t *k, MPI_Comm comm, bool done)
{
    sw_vbuffer_end(&k->out.buffer);
    k->in.buffer.comm = comm;
    if (done)
        sw_vbuffer_received(&k->in.buffer);
    else
        sw_vbuffer_end(&k->in.buffer);
}

/* Blocking ----------------------------------------------------------------- */

static int allgather(sw_sequence_t *seq, sw_sides_t *k)
{
    sw_data_t block = sw_block_data(&k->out.blocks, k->out.buffer.data, 0);
    return sw_coll_neighbor_allgather(seq, &block,
                                      sw_block(&k->out.blocks, 0).bytes,
                                      k->in.buffer.data, &k->in.blocks);
}

static int alltoall(sw_sequence_t *seq, sw_sides_t *k, const int *index)
{
    const sw_neighbours_t *all = k->all;
    bool equal = k->out.args.form == SW_SIDE_ROW && all->outs;
    for (int i = 0; i < all->outs; i++)
        equal &= all->out[i] != SW_NOBODY && all->out[i] != seq->me;
    if (equal) {
        k->out.blocks.bytes = k->out.list[0].bytes;
        k->out.blocks.list = NULL;
    }
    return sw_coll_neighbor_alltoall(seq, k->out.buffer.data, &k->out.blocks,
                                     index, k->in.buffer.data, &k->in.blocks);
}

bool sw_sides_run(sw_sides_t *k, sw_collective_t id, sw_comm_t *c,
                  sw_reason_t *reason, int *status)
{
    const int *index = NULL;
    bool gathers = sw_sides_gather(id);
    sw_sequence_t *seq = gathers ? sw_adjacency_sequence(c, reason)
                                 : sw_adjacency_alltoall(c, id, &index, reason);
    if (!seq)
        return false;
    sw_sides_describe(k);
    *status = gathers ? allgather(seq, k) : alltoall(seq, k, index);
    sw_sides_end(k, k->in.buffer.comm, true);
    return true;
}

/* Nonblocking and persistent ----------------------------------------------- */

void sw_sides_hold(const sw_sides_t *k)
{
    sw_vector_types_hold(k->out.buffer.types, sw_vbuffer_types(&k->out.buffer));
    sw_vector_types_hold(k->in.buffer.types, sw_vbuffer_types(&k->in.buffer));
}

void sw_sides_drop(const sw_sides_t *k)
{
    sw_vector_types_drop(k->out.buffer.types, sw_vbuffer_types(&k->out.buffer));
    sw_vector_types_drop(k->in.buffer.types, sw_vbuffer_types(&k->in.buffer));
}

void sw_sides_find_way(sw_sides_t *k, sw_collective_t id, sw_comm_t *c)
{
    k->way = sw_sides_gather(id) ? NULL : sw_adjacency_started(c, id);
}

void sw_sides_settle(sw_sides_t *k, MPI_Comm comm, sw_neighbourhood_args_t *to)
{
    k->out.buffer.comm = k->in.buffer.comm = comm;
    sw_sides_describe(k);
    *to = (sw_neighbourhood_args_t){.id = k->way ? SW_COLL_NEIGHBOR_ALLTOALL
                                                 : SW_COLL_NEIGHBOR_ALLGATHER,
                                    .all = k->all,
                                    .send = k->out.buffer.data,
                                    .recv = k->in.buffer.data,
                                    .sends = k->out.blocks,
                                    .recvs = k->in.blocks,
                                    .index = k->way ? sw_edge_way_index : NULL,
                                    .way = k->way};
}
