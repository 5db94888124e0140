/*
 * allgather.c - Allgather and Allgatherv over several nodes.
 *
 * Leaders: each leader collects its node's blocks, the leaders exchange them
 * along lane 0, and each team broadcasts all of them. Where the blocks lie by
 * node in the result, all this happens in the result itself. Lanes: lanes.c.
 */
#include "lanes.h"
#include "bundle.h"

#include "node/temporary.h"

typedef struct {
    uint64_t *sizes;  /* [n] by node */
    sw_parts_t parts; /* in bytes */
} shape_t;

static int by_leaders(sw_span_t *s, const shape_t *shape, const sw_data_t *send,
                      size_t bytes, char *all)
{
    const sw_parts_t *parts = &shape->parts;
    SW_ARRAY(sw_extent_t, list, s->here);
    SW_ARRAY(int, count, s->nodes);
    SW_ARRAY(int, at, s->nodes);
    char *part = all + parts->at[s->node];
    sw_bundle_list(s->here, shape->sizes + s->first[s->node], 0, list);
    int rc = sw_coll_gatherv(s->sequence, 0, send, bytes, part,
                             &(sw_blocks_t){.list = list});
    for (int k = 0; k < s->nodes; k++) {
        count[k] = (int)parts->bytes[k];
        at[k] = (int)parts->at[k];
    }
    if (s->mine == 0) {
        MPI_Request request;
        int code = host.Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, count, at,
                                    MPI_BYTE, s->lane, &request);
        rc = sw_await_first_bad(rc,
                                sw_span_await(s, &request, code, parts->all));
    }
    sw_data_t data = sw_data_plain(all);
    return sw_await_first_bad(rc,
                              sw_coll_bcast(s->sequence, 0, &data, parts->all));
}

/* `all` has each block at its rank's place: it is the result, where that has
 * equal blocks side by side. */
static int by_lanes(sw_span_t *s, const uint64_t *sizes, const sw_data_t *send,
                    size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    SW_ARRAY(size_t, at, s->n);
    size_t total = 0;
    bool direct = !blocks->list && !blocks->data;
    for (int i = 0; i < s->n; i++) {
        at[i] = total;
        total += sw_block(blocks, i).bytes;
    }
    char *all = direct ? recv : sw_temporary(total);
    sw_data_t own = sw_data_plain(all + at[s->me]);
    size_t room = sw_block(blocks, s->me).bytes;
    sw_source_keep(send, &own, sw_min(bytes, room));
    int rc = sw_lanes_allgather(s, all, at, sizes);
    for (int i = 0; i < s->n && !direct; i++) {
        sw_data_t from = sw_data_plain(all + at[i]);
        sw_data_t to = sw_block_data(blocks, recv, i);
        if (sw_block(blocks, i).bytes)
            sw_data_copy(&from, &to, 0, sw_block(blocks, i).bytes);
    }
    if (!direct)
        sw_temporary_free(all);
    return sw_await_first_bad(rc, bytes > room ? SW_TRUNCATED : SW_OK);
}

int sw_span_allgather(sw_span_t *s, sw_collective_t id, size_t key,
                      const sw_data_t *send, size_t bytes, void *recv,
                      const sw_blocks_t *blocks)
{
    SW_ARRAY(uint64_t, sizes, s->n);
    SW_PARTS(parts, s->nodes);
    for (int i = 0; i < s->n; i++)
        sizes[i] = sw_block(blocks, s->rank[i]).bytes;
    if (sw_span_way(s, id, key) == SW_WAY_LANES)
        return by_lanes(s, sizes, send, bytes, recv, blocks);
    for (int k = 0; k < s->nodes; k++) {
        parts.bytes[k] = 0;
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            parts.bytes[k] += sizes[i];
    }
    sw_parts_lay(&parts, s->nodes);
    bool direct = sw_bundle_is(s, blocks);
    shape_t shape = {sizes, parts};
    char *all = direct ? recv : sw_temporary(parts.all);
    int rc = by_leaders(s, &shape, send, bytes, all);
    for (int k = 0; k < s->nodes && !direct; k++)
        rc = sw_await_first_bad(rc, sw_bundle_place(s, k, all + parts.at[k],
                                                    sizes + s->first[k], 0,
                                                    recv, blocks));
    if (!direct)
        sw_temporary_free(all);
    return rc;
}
