/*
 * bundle.c - see bundle.h.
 */
#include "bundle.h"

sw_blocks_t sw_bundle_near(const sw_span_t *s, const sw_blocks_t *blocks,
                           sw_extent_t *list, sw_data_t *data)
{
    const int *rank = s->rank + s->first[s->node];
    for (int i = 0; i < s->here; i++) {
        list[i] = sw_block(blocks, rank[i]);
        if (blocks->data)
            data[i] = blocks->data[rank[i]];
    }
    return (sw_blocks_t){.list = list, .data = blocks->data ? data : NULL};
}

size_t sw_bundle_list(int count, const uint64_t *sizes, size_t bytes,
                      sw_extent_t *list)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        size_t size = sizes ? sizes[i] : bytes;
        list[i] = (sw_extent_t){(int64_t)at, size};
        at += size;
    }
    return at;
}

size_t sw_bundle_fill(const sw_span_t *s, int node, const void *send,
                      const sw_blocks_t *blocks, char *to)
{
    size_t at = 0;
    for (int i = s->first[node]; i < s->first[node + 1]; i++) {
        size_t bytes = sw_block(blocks, s->rank[i]).bytes;
        sw_data_t from = sw_block_data(blocks, send, s->rank[i]);
        if (bytes)
            sw_data_pack(&from, bytes, to + at);
        at += bytes;
    }
    return at;
}

int sw_bundle_place(const sw_span_t *s, int node, const char *from,
                    const uint64_t *sizes, size_t bytes, void *recv,
                    const sw_blocks_t *blocks)
{
    int rc = SW_OK;
    for (int i = 0; i < sw_span_members(s, node); i++) {
        int rank = s->rank[s->first[node] + i];
        size_t size = sizes ? sizes[i] : bytes;
        size_t room = sw_block(blocks, rank).bytes;
        sw_data_t to = sw_block_data(blocks, recv, rank);
        sw_data_t block = sw_data_plain(from);
        if (sw_min(size, room))
            sw_data_copy(&block, &to, 0, sw_min(size, room));
        rc = sw_await_first_bad(rc, size > room ? SW_TRUNCATED : SW_OK);
        from += size;
    }
    return rc;
}
