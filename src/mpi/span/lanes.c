/*
 * lanes.c - collectives in which every lane carries a slice.
 *
 * Each member drives the network with its own part of the data. These are the
 * full-lane collectives of Träff and Hunold (Decomposing MPI Collectives for
 * Exploiting Multi-lane Communication, CLUSTER 2020). The members of a lane
 * have the same slice, so all nodes must have the same lanes. A slice of a
 * small chunk may be empty.
 */
#include "lanes.h"
#include "bundle.h"

#include "coll/slice.h"
#include "node/temporary.h"

#define CHUNK ((size_t)1 << 20)

/* One chunk: the slice of each member of the node, in units of `elem` bytes. */
typedef struct {
    sw_span_t *s;
    size_t elem;
    char *at;          /* of the chunk */
    size_t *count;     /* [here] units */
    sw_extent_t *list; /* [here] bytes */
} slices_t;

#define SLICES(name, span, bytes)                     \
    SW_ARRAY(size_t, name##_count, (span)->here);     \
    SW_ARRAY(sw_extent_t, name##_list, (span)->here); \
    slices_t name = {span, bytes, NULL, name##_count, name##_list}

static void cut(slices_t *c, char *at, size_t n)
{
    size_t grain = c->elem < SW_LINE ? SW_LINE / c->elem : 1;
    c->at = at;
    for (int i = 0; i < c->s->here; i++) {
        sw_slice_t slice = {n, 0};
        if (i < c->s->lanes)
            slice = sw_slice(n, c->s->lanes, i, grain);
        c->count[i] = slice.count;
        c->list[i] = (sw_extent_t){(int64_t)(slice.start * c->elem),
                                   slice.count * c->elem};
    }
}

static char *own(const slices_t *c)
{
    return c->at + c->list[c->s->mine].offset;
}

/* The members of the node share their slices. */
static int share(const slices_t *c)
{
    sw_data_t mine = sw_data_plain(own(c));
    return sw_coll_allgather(c->s->sequence, &mine, c->list[c->s->mine].bytes,
                             c->at, &(sw_blocks_t){.list = c->list});
}

/* What a lane has under way for a slice. */
typedef struct {
    MPI_Request request;
    int code;
    bool begun;
} flight_t;

static int land(const slices_t *c, flight_t *f)
{
    int rc = f->begun ? sw_span_await(c->s, &f->request, f->code,
                                      c->list[c->s->mine].bytes)
                      : SW_OK;
    f->begun = false;
    return rc;
}

/* Each chunk is reduced on the nodes, slice by slice, while the lanes carry the
 * one before. */
int sw_lanes_allreduce(sw_span_t *s, const sw_operation_t *o, const void *in,
                       void *out, size_t n)
{
    size_t elem = o->reducer.elem, most = sw_max(CHUNK / elem, 1);
    int rc = SW_OK, turn = 0;
    SLICES(even, s, elem);
    SLICES(odd, s, elem);
    slices_t *chunk[2] = {&even, &odd};
    flight_t flight[2] = {{.begun = false}, {.begun = false}};
    for (size_t at = 0; at < n; at += most, turn++) {
        slices_t *now = chunk[turn % 2], *last = chunk[(turn + 1) % 2];
        flight_t *f = &flight[turn % 2];
        cut(now, (char *)out + at * elem, sw_min(most, n - at));
        rc = sw_await_first_bad(
            rc, sw_coll_reduce_scatter(s->sequence, &o->reducer,
                                       (const char *)in + at * elem, own(now),
                                       now->count, 0));
        if (now->count[s->mine]) {
            f->begun = true;
            f->code = host.Iallreduce(MPI_IN_PLACE, own(now),
                                      (int)now->count[s->mine], o->type->handle,
                                      o->op, s->lane, &f->request);
        }
        if (turn) {
            rc = sw_await_first_bad(rc, land(last, &flight[(turn + 1) % 2]));
            rc = sw_await_first_bad(rc, share(last));
        }
    }
    slices_t *last = chunk[(turn + 1) % 2];
    rc = sw_await_first_bad(rc, land(last, &flight[(turn + 1) % 2]));
    return sw_await_first_bad(rc, share(last));
}

static void send_slice(slices_t *c, int home, flight_t *f)
{
    sw_span_t *s = c->s;
    if (!c->count[s->mine])
        return;
    f->begun = true;
    f->code = host.Ibcast(own(c), (int)c->count[s->mine], MPI_BYTE, home,
                          s->lane, &f->request);
}

/* The root's node has a chunk whole before its lanes carry it on. Any other
 * shares the slices that its lanes bring. */
int sw_lanes_bcast(sw_span_t *s, int root, char *buffer, size_t bytes)
{
    int home = s->node_of[root], rc = SW_OK, turn = 0;
    SLICES(even, s, 1);
    SLICES(odd, s, 1);
    slices_t *chunk[2] = {&even, &odd};
    flight_t flight[2] = {{.begun = false}, {.begun = false}};
    for (size_t at = 0; at < bytes; at += CHUNK, turn++) {
        slices_t *now = chunk[turn % 2], *last = chunk[(turn + 1) % 2];
        sw_data_t data = sw_data_plain(buffer + at);
        cut(now, buffer + at, sw_min(CHUNK, bytes - at));
        if (s->node == home)
            rc = sw_await_first_bad(
                rc, sw_coll_bcast(s->sequence, s->number_of[root], &data,
                                  sw_min(CHUNK, bytes - at)));
        send_slice(now, home, &flight[turn % 2]);
        if (turn) {
            rc = sw_await_first_bad(rc, land(last, &flight[(turn + 1) % 2]));
            if (s->node != home)
                rc = sw_await_first_bad(rc, share(last));
        }
    }
    slices_t *last = chunk[(turn + 1) % 2];
    if (bytes == 0)
        return rc;
    rc = sw_await_first_bad(rc, land(last, &flight[(turn + 1) % 2]));
    return s->node != home ? sw_await_first_bad(rc, share(last)) : rc;
}

/* Each lane gathers the blocks of its members, and then each team those of all
 * its lanes, a node's blocks at a time. `at`: [n] places in `all`, by rank. */
int sw_lanes_allgather(sw_span_t *s, char *all, const size_t *at,
                       const uint64_t *sizes)
{
    SW_ARRAY(int, count, s->nodes);
    SW_ARRAY(int, place, s->nodes);
    SW_ARRAY(sw_extent_t, list, s->here);
    MPI_Request request;
    size_t moved = 0;
    for (int k = 0; k < s->nodes; k++) {
        int i = s->first[k] + s->mine;
        count[k] = (int)sizes[i];
        place[k] = (int)at[s->rank[i]];
        moved += sizes[i];
    }
    int code = host.Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, count, place,
                                MPI_BYTE, s->lane, &request);
    int rc = sw_span_await(s, &request, code, moved);
    for (int k = 0; k < s->nodes; k++) {
        for (int i = 0; i < s->here; i++) {
            int from = s->first[k] + i;
            list[i] = (sw_extent_t){(int64_t)at[s->rank[from]], sizes[from]};
        }
        sw_data_t mine = sw_data_plain(all + list[s->mine].offset);
        rc = sw_await_first_bad(
            rc, sw_coll_allgather(s->sequence, &mine, list[s->mine].bytes, all,
                                  &(sw_blocks_t){.list = list}));
    }
    return rc;
}
