/*
 * neighbourhood.c - see neighbourhood.h.
 */
#include "neighbourhood.h"

#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT64_MAX

/* Posting ------------------------------------------------------------------ */

static bool leads_away(const sw_neighbourhood_t *h, int member)
{
    return member != SW_NOBODY && member != h->schedule.on->me;
}

/* Does block i leave this member? */
static bool leaves(const sw_neighbourhood_t *h, int i)
{
    return h->args.index ? leads_away(h, h->args.all->out[i])
                         : h->args.all->readers > 0;
}

static uint64_t leaving(const sw_neighbourhood_t *h, int i)
{
    return leaves(h, i) ? sw_block(&h->args.sends, i).bytes : 0;
}

/* Are the blocks that leave of one size? Returns the bytes of all, side by
 * side. */
static size_t measure(sw_neighbourhood_t *h)
{
    size_t all = 0;
    bool any = false;
    h->each = 0;
    h->listed = false;
    for (int i = 0; i < h->blocks; i++) {
        size_t bytes = leaving(h, i);
        if (!leaves(h, i))
            continue;
        h->listed |= any && bytes != h->each;
        h->each = bytes;
        any = true;
        all += bytes;
    }
    return h->listed ? all : h->each * (size_t)h->blocks;
}

/* Where peers find the blocks, counted from the buffer's begin on, or NOWHERE.
 * What lies between them is not the call's. */
static uint64_t find(const sw_neighbourhood_t *h)
{
    const sw_blocks_t *blocks = &h->args.sends;
    const char *base = h->args.send;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int i = 0; i < h->blocks; i++) {
        sw_extent_t b = sw_block(blocks, i);
        int64_t end = b.offset + (int64_t)b.bytes;
        if (!leaving(h, i))
            continue;
        if (blocks->data ||
            sw_schedule_show(&h->schedule, base + b.offset, b.bytes) == NOWHERE)
            return NOWHERE;
        sw_show_stage(base + b.offset, b.bytes);
        low = b.offset < low ? b.offset : low;
        high = end > high ? end : high;
    }
    uint64_t there = sw_arena_offset(base + low, (size_t)(high - low));
    return there == NOWHERE ? there : there - (uint64_t)low;
}

/* Does each block that leaves lie at as many times its size? */
static bool in_a_row(const sw_neighbourhood_t *h)
{
    for (int i = 0; i < h->blocks; i++)
        if (leaving(h, i) && sw_block(&h->args.sends, i).offset !=
                                 (int64_t)((size_t)i * h->each))
            return false;
    return true;
}

/* Where block i lies behind `at`, the end of the block before; if packed. */
static size_t packed_at(const sw_neighbourhood_t *h, int i, size_t at)
{
    return h->listed ? at : (size_t)i * h->each;
}

static void pack(const sw_neighbourhood_t *h, char *to)
{
    size_t at = 0;
    for (int i = 0; i < h->blocks; i++) {
        size_t bytes = leaving(h, i);
        sw_data_t block = sw_block_data(&h->args.sends, h->args.send, i);
        at = packed_at(h, i, at);
        if (bytes)
            sw_data_pack(&block, bytes, to + at);
        at += bytes;
    }
}

/* Lists the blocks as they lie, or side by side. */
static void list_blocks(const sw_neighbourhood_t *h, bool packed, char *to)
{
    sw_extent_t *list = (sw_extent_t *)(void *)to;
    size_t at = 0;
    for (int i = 0; i < h->blocks; i++) {
        list[i] = (sw_extent_t){(int64_t)at, leaving(h, i)};
        if (!packed)
            list[i].offset = sw_block(&h->args.sends, i).offset;
        at += list[i].bytes;
    }
}

/* Lends the blocks where they lie, at `there`, or as a copy. False: there is no
 * room for the copy, or for the table. */
static bool lend(sw_neighbourhood_t *h, sw_slate_row_t *row, size_t bytes,
                 uint64_t there)
{
    const sw_slates_t *on = h->schedule.on;
    if (there == NOWHERE) {
        h->packed = sw_temporary_shared(bytes, &there);
        if (!h->packed)
            return false;
        pack(h, h->packed);
    }
    row->form = SW_FORM_ARENA;
    row->send = (sw_part_t){.address = there, .form = SW_FORM_ARENA};
    row->recv = (sw_part_t){.form = SW_FORM_NONE};
    size_t table = (size_t)h->blocks * sizeof(sw_extent_t);
    if (!h->listed)
        return true;
    char *to = sw_slate_area(on, h->schedule.step, on->me);
    if (table > on->area) {
        to = h->table = sw_temporary_shared(table, &row->recv.address);
        row->recv.form = SW_FORM_ARENA;
    }
    if (to)
        list_blocks(h, h->packed, to);
    return to;
}

static void pump_instead(sw_neighbourhood_t *h, sw_slate_row_t *row)
{
    const sw_slates_t *on = h->schedule.on;
    row->form = SW_FORM_PUMPED;
    h->pumped = true;
    h->edge = 0;
    sw_pump_begin(&h->pump, sw_slate_area(on, h->schedule.step, on->me),
                  on->area);
}

/* Copies the blocks into the row, or into the area behind their table. */
static void stage(const sw_neighbourhood_t *h, sw_slate_row_t *row,
                  size_t bytes, size_t table)
{
    const sw_slates_t *on = h->schedule.on;
    char *area = sw_slate_area(on, h->schedule.step, on->me);
    if (!h->listed && bytes <= SW_SLATE_INLINE) {
        row->form = SW_FORM_INLINE;
        pack(h, row->data);
        return;
    }
    row->form = SW_FORM_STAGED;
    row->send = (sw_part_t){.address = table, .form = SW_FORM_STAGED};
    row->recv = (sw_part_t){.form = SW_FORM_NONE};
    if (h->listed)
        list_blocks(h, true, area);
    pack(h, area + table);
}

/* Notes which members will read what this one lends. */
static void expect_readers(sw_neighbourhood_t *h)
{
    const sw_neighbours_t *all = h->args.all;
    for (int k = 0; k < all->outs; k++) {
        unsigned j = (unsigned)all->out[k];
        if (leads_away(h, all->out[k]) && leaving(h, h->args.index ? k : 0))
            h->readers[j / SW_SLATE_BITS] |= UINT64_C(1) << j % SW_SLATE_BITS;
    }
}

static void post(sw_schedule_t *s, sw_slate_row_t *row)
{
    sw_neighbourhood_t *h = (sw_neighbourhood_t *)s;
    const sw_slates_t *on = s->on;
    size_t bytes = measure(h);
    size_t eager = on->team->eager;
    uint64_t there = bytes > eager ? find(h) : NOWHERE;
    h->listed |= there != NOWHERE && !in_a_row(h);
    size_t table = h->listed ? (size_t)h->blocks * sizeof(sw_extent_t) : 0;
    if (there == NOWHERE && table + bytes <= on->area) {
        stage(h, row, bytes, table);
    } else if (lend(h, row, bytes, there)) {
        expect_readers(h);
    } else {
        pump_instead(h, row);
    }
    row->bytes = h->each;
    row->listed = h->listed ? SW_LISTS_SENDS : 0;
}

/* Pumping ------------------------------------------------------------------ */

/* Blocks go along the edges in their order; the one block that goes along all
 * of them, once to each receiver. */
static int pumped_edges(const sw_neighbourhood_t *h)
{
    const sw_neighbours_t *all = h->args.all;
    return h->args.index ? all->outs : all->readers;
}

static int receiver_of(const sw_neighbourhood_t *h, int edge)
{
    const sw_neighbours_t *all = h->args.all;
    return h->args.index ? all->out[edge] : all->reader[edge];
}

/* Goes on to the next edge that something leaves on. False: there is none.
 * (Where nothing leaves, no member waits for a chunk.) */
static bool find_edge(sw_neighbourhood_t *h)
{
    int n = pumped_edges(h);
    while (h->edge < n && !leaving(h, h->args.index ? h->edge : 0))
        h->edge++;
    return h->edge < n;
}

/* Puts a chunk, if the last one is taken, and the receiver of the next one has
 * begun. */
static bool pump(sw_neighbourhood_t *h)
{
    sw_schedule_t *s = &h->schedule;
    if (!sw_pump_idle(&h->pump, s))
        return false;
    if (!find_edge(h)) {
        h->pumped = false;
        return false;
    }
    int to = receiver_of(h, h->edge), block = h->args.index ? h->edge : 0;
    if (!sw_schedule_look(s, to))
        return false;
    sw_data_t data = sw_block_data(&h->args.sends, h->args.send, block);
    if (sw_row_left(sw_schedule_row(s, to), s->turn) ||
        sw_pump_put(&h->pump, to, (unsigned)block, &data,
                    sw_block(&h->args.sends, block).bytes)) {
        h->edge++;
        h->pump.at = 0;
    }
    return true;
}

/* Receiving ---------------------------------------------------------------- */

/* Block i of a member, as it has posted it. */
static const char *block_of(const sw_neighbourhood_t *h, int from,
                            const sw_slate_row_t *row, int i, uint64_t *bytes)
{
    const sw_slates_t *on = h->schedule.on;
    const char *arena = on->team->peer[from]->arena;
    const char *area = sw_slate_area(on, h->schedule.step, from);
    sw_extent_t b = {(int64_t)((size_t)i * row->bytes), row->bytes};
    *bytes = b.bytes;
    if (row->form == SW_FORM_INLINE)
        return row->data + b.offset;
    if (row->listed & SW_LISTS_SENDS) {
        const char *table = row->recv.form == SW_FORM_ARENA
                                ? arena + row->recv.address
                                : area;
        b = ((const sw_extent_t *)(const void *)table)[i];
    }
    *bytes = b.bytes;
    return (row->form == SW_FORM_ARENA ? arena : area) + row->send.address +
           b.offset;
}

/* Copies into the place of an edge. */
static void put(sw_neighbourhood_t *h, int edge, const sw_data_t *block,
                uint64_t bytes)
{
    sw_data_t to = sw_block_data(&h->args.recvs, h->args.recv, edge);
    uint64_t room = sw_block(&h->args.recvs, edge).bytes;
    if (h->args.all->in[edge] == h->schedule.on->me)
        sw_source_keep(block, &to, sw_min(bytes, room));
    else if (bytes)
        sw_data_copy(block, &to, 0, sw_min(bytes, room));
    if (bytes > room)
        h->schedule.result = SW_TRUNCATED;
}

/* Copies block i of a member, which has posted it. False: the member has left
 * too early. */
static bool take_block(sw_neighbourhood_t *h, int edge, int from,
                       sw_slate_row_t *row, int i)
{
    sw_schedule_t *s = &h->schedule;
    bool lent = row->form == SW_FORM_ARENA;
    if (lent)
        sw_slate_touch(s->on);
    if (lent && sw_unlikely(sw_row_left(row, s->turn))) {
        sw_slate_touched(s->on);
        sw_schedule_bad(s, SW_BROKEN);
        return false;
    }
    uint64_t bytes;
    const char *at = block_of(h, from, row, i, &bytes);
    sw_data_t block = sw_data_plain(at);
    put(h, edge, &block, bytes);
    unsigned me = (unsigned)s->on->me;
    if (--h->owed[from] == 0 && lent)
        sw_row_tick(s->on, row, me / SW_SLATE_BITS,
                    UINT64_C(1) << me % SW_SLATE_BITS);
    if (lent)
        sw_slate_touched(s->on);
    return true;
}

/* Copies a chunk into the places of all edges on which it comes. */
static void put_chunk(sw_neighbourhood_t *h, int from, const int *index,
                      const sw_pump_area_t *chunk)
{
    const sw_neighbours_t *all = h->args.all;
    uint64_t end = chunk->begin + chunk->bytes, total = chunk->all;
    sw_data_t data = sw_data_plain(chunk->data - chunk->begin);
    for (int e = 0; e < all->ins; e++) {
        if (all->in[e] != from || h->got[e] ||
            (index ? index[e] : 0) != (int)chunk->block)
            continue;
        sw_data_t to = sw_block_data(&h->args.recvs, h->args.recv, e);
        uint64_t room = sw_block(&h->args.recvs, e).bytes;
        if (chunk->begin < sw_min(end, room))
            sw_data_copy(&data, &to, chunk->begin, sw_min(end, room));
        if (total > room)
            h->schedule.result = SW_TRUNCATED;
        if (end == total) {
            h->got[e] = true;
            h->missing--;
        }
    }
}

/* Takes what a member pumps, wanted or not. */
static bool take_chunk(sw_neighbourhood_t *h, int from, const int *index)
{
    sw_schedule_t *s = &h->schedule;
    const sw_pump_area_t *chunk = sw_pump_look(
        s, sw_slate_area(s->on, s->step, from));
    if (chunk) {
        put_chunk(h, from, index, chunk);
        sw_pump_take(chunk);
    } else if (sw_row_left(sw_schedule_row(s, from), s->turn)) {
        /* Before it leaves, it waits until this member has all. */
        sw_schedule_bad(s, SW_BROKEN);
    }
    return chunk;
}

/* Takes what comes on an edge. False: it is not there. */
static bool take(sw_neighbourhood_t *h, int edge, const int *index)
{
    sw_schedule_t *s = &h->schedule;
    int from = h->args.all->in[edge], i = index ? index[edge] : 0;
    if (sw_unlikely(i < 0)) {
        sw_schedule_bad(s, SW_BROKEN);
        return false;
    }
    if (from == s->on->me) {
        sw_data_t own = sw_block_data(&h->args.sends, h->args.send, i);
        put(h, edge, &own, sw_block(&h->args.sends, i).bytes);
    } else if (!sw_schedule_look(s, from)) {
        return false;
    } else if (sw_schedule_row(s, from)->form == SW_FORM_PUMPED) {
        return take_chunk(h, from, index);
    } else if (!take_block(h, edge, from, sw_schedule_row(s, from), i)) {
        return false;
    }
    h->got[edge] = true;
    h->missing--;
    return true;
}

/* Which blocks come, in *index. False: not known yet. */
static bool ways_are_known(const sw_neighbourhood_t *h, const int **index)
{
    *index = h->args.index ? h->args.index(h->args.way) : NULL;
    return *index || !h->args.index;
}

static bool work(sw_schedule_t *s, bool calls)
{
    sw_neighbourhood_t *h = (sw_neighbourhood_t *)s;
    const sw_neighbours_t *all = h->args.all;
    const int *index;
    bool any = sw_unlikely(h->pumped) && pump(h);
    if (!h->missing || !ways_are_known(h, &index))
        return any;
    for (int k = 0; k < all->ins && !s->status; k++) {
        int edge = all->first + k;
        edge -= edge < all->ins ? 0 : all->ins;
        if (!h->got[edge])
            any |= take(h, edge, index);
    }
    return any;
}

/* Does another member read this one's memory, or will it? One that has left
 * does not, even if it has read only a part. */
static bool is_read(sw_neighbourhood_t *h)
{
    const sw_schedule_t *s = &h->schedule;
    const sw_slate_row_t *row = sw_schedule_row(s, s->on->me);
    uint64_t open = 0;
    for (unsigned w = 0; w < s->on->words; w++) {
        uint64_t left = h->readers[w] &
                        ~atomic_load_explicit(&row->word[s->on->words + w],
                                              memory_order_acquire);
        for (uint64_t bits = left; bits; bits &= bits - 1) {
            int j = (int)(w * SW_SLATE_BITS) + __builtin_ctzll(bits);
            if (sw_row_left(sw_schedule_row(s, j), s->turn))
                left &= ~(bits & -bits);
        }
        h->readers[w] = left;
        open |= left;
    }
    return open;
}

static bool over(sw_schedule_t *s)
{
    sw_neighbourhood_t *h = (sw_neighbourhood_t *)s;
    return !h->missing && !h->pumped && !is_read(h);
}

/* Beginning and end -------------------------------------------------------- */

static void end(sw_schedule_t *s)
{
    sw_neighbourhood_t *h = (sw_neighbourhood_t *)s;
    sw_temporary_free(h->packed);
    sw_temporary_free(h->table);
}

/* On which edges something is to come. */
static void expect_blocks(sw_neighbourhood_t *h)
{
    const sw_neighbours_t *all = h->args.all;
    h->missing = 0;
    for (int i = 0; i < all->ins; i++) {
        h->got[i] = all->in[i] == SW_NOBODY ||
                    !sw_block(&h->args.recvs, i).bytes;
        if (h->got[i])
            continue;
        h->missing++;
        h->owed[all->in[i]]++;
    }
}

static void make_room(sw_neighbourhood_t *h, const sw_slates_t *on)
{
    size_t words = on->words * sizeof *h->readers;
    size_t members = (size_t)on->n * sizeof *h->owed;
    size_t edges = (size_t)h->args.all->ins;
    char *at = sw_scratch(&h->schedule.room, words + members + edges);
    if (!at) {
        sw_say("out of memory for a nonblocking collective");
        abort();
    }
    memset(at, 0, words + members);
    h->readers = (uint64_t *)(void *)at;
    h->owed = (int *)(void *)(at + words);
    h->got = (bool *)(at + words + members);
}

static const sw_schedule_kind_t neighbourhood_kind = {post, work, over, end};

void sw_neighbourhood_begin(sw_neighbourhood_t *h, sw_slates_t *on)
{
    h->blocks = h->args.index ? h->args.all->outs : 1;
    h->packed = h->table = NULL;
    h->pumped = false;
    make_room(h, on);
    expect_blocks(h);
    sw_schedule_begin(&h->schedule, &neighbourhood_kind, on,
                      sw_sequence_what((int)h->args.id, 0));
}
