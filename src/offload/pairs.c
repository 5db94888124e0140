/*
 * pairs.c - see pairs.h.
 */
#include "pairs.h"

#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

static bool to_root(sw_collective_t id)
{
    return id == SW_COLL_GATHER || id == SW_COLL_GATHERV;
}

static bool from_root(sw_collective_t id)
{
    return id == SW_COLL_BCAST || id == SW_COLL_SCATTER ||
           id == SW_COLL_SCATTERV;
}

static bool deals(sw_collective_t id)
{
    return id == SW_COLL_SCATTER || id == SW_COLL_SCATTERV ||
           id == SW_COLL_ALLTOALL || id == SW_COLL_ALLTOALLV ||
           id == SW_COLL_ALLTOALLW;
}

static bool collects(sw_collective_t id)
{
    return id != SW_COLL_BCAST && id != SW_COLL_SCATTER &&
           id != SW_COLL_SCATTERV;
}

/* This member's block for member j, and its place for what i sends. */
static int block_for(const sw_pairs_t *p, int j)
{
    return p->deals ? j : 0;
}
static int place_for(const sw_pairs_t *p, int i)
{
    return p->collects ? i : 0;
}

static uint64_t bytes_for(const sw_pairs_t *p, int j)
{
    return sw_block(&p->args.sends, block_for(p, j)).bytes;
}
static uint64_t room_for(const sw_pairs_t *p, int i)
{
    return sw_block(&p->args.recvs, place_for(p, i)).bytes;
}

/* Posting ------------------------------------------------------------------ */

/* Bytes of the blocks that leave (for all but this member; of the one for all),
 * or of the places. */
static size_t sum(const sw_blocks_t *blocks, bool each, int n, int me)
{
    size_t all = 0;
    if (!each)
        return sw_block(blocks, 0).bytes;
    for (int i = 0; i < n; i++)
        all += i == me ? 0 : sw_block(blocks, i).bytes;
    return all;
}

/* Where peers find all blocks, but this member's own, counted from `base` on;
 * or UINT64_MAX. What lies between them is not the call's. */
static uint64_t find_blocks(const sw_schedule_t *s, const void *base,
                            const sw_blocks_t *blocks, bool each, bool in)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    int n = each ? s->on->n : 1;
    if (blocks->data)
        return UINT64_MAX;
    for (int i = 0; i < n; i++) {
        sw_extent_t b = sw_block(blocks, i);
        if (!b.bytes || (each && i == s->on->me))
            continue;
        const char *at = (const char *)base + b.offset;
        if (sw_schedule_show(s, at, b.bytes) == UINT64_MAX)
            return UINT64_MAX;
        if (in)
            sw_show_stage(at, b.bytes);
        low = b.offset < low ? b.offset : low;
        high = b.offset + (int64_t)b.bytes > high ? b.offset + (int64_t)b.bytes
                                                  : high;
    }
    if (low > high)
        return UINT64_MAX;
    uint64_t there = sw_arena_offset((const char *)base + low,
                                     (size_t)(high - low));
    return there == UINT64_MAX ? there : there - (uint64_t)low;
}

/* Copies the blocks that leave, side by side. */
static void pack(const sw_pairs_t *p, char *to)
{
    int n = p->deals ? p->schedule.on->n : 1;
    for (int j = 0; j < n; j++) {
        size_t bytes = sw_block(&p->args.sends, j).bytes;
        sw_data_t block = sw_block_data(&p->args.sends, p->args.send, j);
        if (!bytes || (p->deals && j == p->schedule.on->me))
            continue;
        sw_data_pack(&block, bytes, to);
        to += bytes;
    }
}

/* Lists the blocks as they lie, or side by side if they are `packed`. */
static void list_blocks(const sw_pairs_t *p, const sw_blocks_t *blocks,
                        bool packed, char *to)
{
    sw_extent_t *list = (sw_extent_t *)to;
    int64_t at = 0;
    for (int j = 0; j < p->schedule.on->n; j++) {
        list[j] = sw_block(blocks, j);
        if (!packed)
            continue;
        list[j].offset = at;
        at += j == p->schedule.on->me ? 0 : (int64_t)list[j].bytes;
    }
}

/* Decides how this member's blocks leave: by its row, as memory (`lent`), or by
 * a pump (`pumped`). Returns where that memory is. */
static uint64_t lend_out(sw_pairs_t *p, size_t bytes, size_t eager, size_t area)
{
    uint64_t there = UINT64_MAX;
    if (bytes > eager)
        there = find_blocks(&p->schedule, p->args.send, &p->args.sends,
                            p->deals, true);
    if (bytes <= eager || (there == UINT64_MAX && bytes <= area))
        return UINT64_MAX;
    if (there == UINT64_MAX) {
        p->packed = sw_temporary_shared(bytes, &there);
        if (p->packed)
            pack(p, p->packed);
    }
    p->lent = there != UINT64_MAX;
    p->pumped = !p->lent;
    return there;
}

/* Lends the places, if the others map them and they are large. */
static uint64_t open_up(sw_pairs_t *p, size_t eager)
{
    const sw_team_t *team = p->schedule.on->team;
    uint64_t there = UINT64_MAX;
    if (p->receives &&
        sum(&p->args.recvs, p->collects, team->n, team->me) > eager)
        there = find_blocks(&p->schedule, p->args.recv, &p->args.recvs,
                            p->collects, true);
    p->open = there != UINT64_MAX;
    return there;
}

static size_t eager_of(const sw_pairs_t *p)
{
    const sw_team_t *team = p->schedule.on->team;
    bool rooted = to_root(p->args.id) || from_root(p->args.id);
    return rooted ? team->eager : team->eager_all;
}

/* How many receivers must read what this member has lent, or pumps. */
static void expect_readers(sw_pairs_t *p)
{
    int n = p->schedule.on->n, me = p->schedule.on->me;
    for (int j = 0; j < n && (p->lent || p->pumped); j++) {
        bool reads = j != me && bytes_for(p, j) &&
                     (!to_root(p->args.id) || j == p->args.root);
        p->read[j] = !reads;
        p->unread += reads;
    }
}

/* The tables, and what fits the area. */
static void fill_area(sw_pairs_t *p, sw_slate_row_t *row, size_t bytes)
{
    const sw_slates_t *on = p->schedule.on;
    char *area = sw_slate_area(on, p->schedule.step, on->me);
    size_t table = (size_t)on->n * sizeof(sw_extent_t);
    bool packed = !p->lent || p->packed;
    if (p->pumped)
        sw_pump_begin(&p->pump, area + 2 * table, on->area - 2 * table);
    row->listed = packed ? SW_LISTS_PACKED : 0;
    if (p->sends && p->deals && p->args.sends.list) {
        list_blocks(p, &p->args.sends, packed, area);
        row->listed |= SW_LISTS_SENDS;
    }
    if (p->open && p->collects && p->args.recvs.list) {
        list_blocks(p, &p->args.recvs, false, area + table);
        row->listed |= SW_LISTS_RECVS;
    }
    row->form = p->lent                                ? SW_FORM_ARENA
                : p->pumped                            ? SW_FORM_PUMPED
                : !bytes                               ? SW_FORM_NONE
                : !p->open && bytes <= SW_SLATE_INLINE ? SW_FORM_INLINE
                                                       : SW_FORM_STAGED;
    if (bytes && !p->lent && !p->pumped)
        pack(p, row->form == SW_FORM_INLINE ? row->data : area + 2 * table);
}

static void post(sw_schedule_t *s, sw_slate_row_t *row)
{
    sw_pairs_t *p = (sw_pairs_t *)s;
    const sw_slates_t *on = s->on;
    size_t bytes = p->sends ? sum(&p->args.sends, p->deals, on->n, on->me) : 0;
    size_t room = on->area - 2 * (size_t)on->n * sizeof(sw_extent_t);
    size_t eager = sw_min(eager_of(p), room);
    uint64_t opened = open_up(p, eager);
    uint64_t lent = lend_out(p, bytes, eager, room);
    row->bytes = p->sends ? sw_block(&p->args.sends, 0).bytes : 0;
    fill_area(p, row, bytes);
    expect_readers(p);
    if (p->open)
        sw_schedule_open(s);
    if (row->form == SW_FORM_INLINE)
        return;
    row->send = (sw_part_t){.address = lent, .form = row->form};
    row->recv = (sw_part_t){.address = opened,
                            .form = p->open ? SW_FORM_ARENA : SW_FORM_NONE,
                            .bytes = p->open ? sw_block(&p->args.recvs, 0).bytes
                                             : 0};
}

/* Reading rows ------------------------------------------------------------- */

/* A member's block for another, as it has posted it. */
static const char *block_of(const sw_pairs_t *p, int from,
                            const sw_slate_row_t *row, int to, uint64_t *bytes)
{
    const sw_slates_t *on = p->schedule.on;
    const char *area = sw_slate_area(on, p->schedule.step, from);
    size_t tables = 2 * (size_t)on->n * sizeof(sw_extent_t);
    int index = to - (row->listed & SW_LISTS_PACKED && to > from);
    sw_extent_t b = {p->deals ? (int64_t)((size_t)index * row->bytes) : 0,
                     row->bytes};
    if (row->listed & SW_LISTS_SENDS)
        b = ((const sw_extent_t *)area)[to];
    *bytes = row->form == SW_FORM_NONE ? 0 : b.bytes;
    const char *base = row->form == SW_FORM_INLINE   ? row->data
                       : row->form == SW_FORM_STAGED ? area + tables
                       : from != on->me
                           ? on->team->peer[from]->arena + row->send.address
                       : p->packed ? p->packed
                                   : p->args.send;
    return base + b.offset;
}

static bool is_open(const sw_slate_row_t *row)
{
    return row->form != SW_FORM_INLINE && row->recv.form == SW_FORM_ARENA;
}

/* A member's place for what another sends, in its arena. */
static char *place_of(const sw_pairs_t *p, int to, const sw_slate_row_t *row,
                      int from, uint64_t *bytes)
{
    const sw_slates_t *on = p->schedule.on;
    const char *table = sw_slate_area(on, p->schedule.step, to) +
                        (size_t)on->n * sizeof(sw_extent_t);
    sw_extent_t b = {p->collects ? (int64_t)((size_t)from * row->recv.bytes)
                                 : 0,
                     row->recv.bytes};
    if (row->listed & SW_LISTS_RECVS)
        b = ((const sw_extent_t *)table)[from];
    *bytes = b.bytes;
    return on->team->peer[to]->arena + row->recv.address + b.offset;
}

/* Pieces of what `from` sends to one receiver: all know how many bytes. */
static sw_pieces_t pieces_of(const sw_pairs_t *p, int from, uint64_t bytes)
{
    unsigned n = (unsigned)p->schedule.on->n;
    if (n >= SW_SLATE_BITS)
        return (sw_pieces_t){(unsigned)from / SW_SLATE_BITS,
                             UINT64_C(1) << (unsigned)from % SW_SLATE_BITS};
    unsigned most = (unsigned)sw_min(SW_SLATE_BITS / n, 8);
    return (sw_pieces_t){0, sw_schedule_bits((unsigned)from * most,
                                             sw_schedule_pieces(bytes, most))};
}

/* Bytes [*begin, *end) of the piece with this bit, as far as there is room. */
static void stretch_of(sw_pieces_t all, uint64_t bit, uint64_t bytes,
                       uint64_t room, size_t *begin, size_t *end)
{
    int count = __builtin_popcountll(all.bits);
    int index = __builtin_popcountll(all.bits & (bit - 1));
    size_t each = sw_round_up((bytes + (size_t)count - 1) / (size_t)count,
                              SW_LINE);
    bytes = sw_min(bytes, room);
    *begin = sw_min((size_t)index * each, bytes);
    *end = sw_min(*begin + each, bytes);
}

/* Working ------------------------------------------------------------------ */

/* Claims a piece of what goes from one member to another, whose rows these are.
 * While it is claimed, the memory on both sides is there: what a sender has not
 * lent stays in its row. Its bit, or 0. */
static uint64_t claim(sw_pairs_t *p, const sw_slate_row_t *source,
                      sw_slate_row_t *target, sw_pieces_t of)
{
    sw_schedule_t *s = &p->schedule;
    sw_slate_touch(s->on);
    if (sw_likely(
            (source->form != SW_FORM_ARENA || !sw_row_left(source, s->turn)) &&
            !sw_row_left(target, s->turn))) {
        uint64_t bit = sw_row_claim(target, of);
        if (bit)
            return bit;
    }
    sw_slate_touched(s->on);
    return 0;
}

static void finish(sw_pairs_t *p, sw_slate_row_t *row, sw_pieces_t of,
                   uint64_t bit)
{
    sw_row_tick(p->schedule.on, row, of.word, bit);
    sw_slate_touched(p->schedule.on);
}

/* Copies bytes [begin, end) into this member's own place. */
static void take(sw_pairs_t *p, int from, const char *block, size_t begin,
                 size_t end)
{
    int place = place_for(p, from);
    sw_data_t to = sw_block_data(&p->args.recvs, p->args.recv, place);
    sw_data_t data = sw_data_plain(block);
    if (begin == end)
        return;
    sw_data_copy(&data, &to, begin, end);
    if (p->open)
        sw_show_stage(to.at + begin, end - begin);
}

/* This member has what `from` sends. */
static void received(sw_pairs_t *p, int from, uint64_t bytes)
{
    p->written[from] = true;
    p->unwritten--;
    if (bytes > room_for(p, from))
        p->schedule.result = SW_TRUNCATED;
}

/* Takes a chunk that `from` pumps to this member. */
static bool take_chunk(sw_pairs_t *p, int from, const sw_slate_row_t *theirs)
{
    const sw_slates_t *on = p->schedule.on;
    size_t tables = 2 * (size_t)on->n * sizeof(sw_extent_t);
    const sw_pump_area_t *chunk = sw_pump_look(
        &p->schedule, sw_slate_area(on, p->schedule.step, from) + tables);
    if (!chunk) {
        /* Before it leaves, it waits until this member has all. */
        if (sw_row_left(theirs, p->schedule.turn))
            sw_schedule_bad(&p->schedule, SW_BROKEN);
        return false;
    }
    uint64_t end = chunk->begin + chunk->bytes, all = chunk->all;
    uint64_t room = room_for(p, from);
    take(p, from, chunk->data - chunk->begin, sw_min(chunk->begin, room),
         sw_min(end, room));
    sw_pump_take(chunk);
    if (end == all)
        received(p, from, all);
    return true;
}

/* Puts a chunk for a receiver that has begun, if the last one is taken. */
static bool pump(sw_pairs_t *p)
{
    sw_schedule_t *s = &p->schedule;
    sw_pump_t *u = &p->pump;
    int n = s->on->n;
    if (!sw_pump_idle(u, s))
        return false;
    if (u->at && (u->at == bytes_for(p, u->to) ||
                  sw_row_left(sw_schedule_row(s, u->to), s->turn))) {
        p->read[u->to] = true;
        p->unread--;
        u->at = 0;
    }
    if (u->at == 0)
        for (int k = 0; k < n; k++) {
            u->to = u->to + 1 < n ? u->to + 1 : 0;
            if (!p->read[u->to] && sw_schedule_look(s, u->to))
                break;
        }
    if (!p->unread || p->read[u->to] || !sw_schedule_look(s, u->to))
        return false;
    int block = block_for(p, u->to);
    sw_data_t data = sw_block_data(&p->args.sends, p->args.send, block);
    sw_pump_put(u, u->to, (unsigned)block, &data, bytes_for(p, u->to));
    return true;
}

/* Takes what `from` sends, or a piece. False: nothing is there to do. */
static bool take_from(sw_pairs_t *p, int from)
{
    sw_schedule_t *s = &p->schedule;
    uint64_t bytes;
    const sw_slate_row_t *theirs = sw_schedule_look(s, from);
    if (!theirs)
        return false;
    if (sw_unlikely(theirs->form == SW_FORM_PUMPED))
        return take_chunk(p, from, theirs);
    sw_slate_row_t *mine = sw_schedule_row(s, s->on->me);
    const char *block = block_of(p, from, theirs, s->on->me, &bytes);
    uint64_t room = room_for(p, from);
    if (!p->open && theirs->form != SW_FORM_ARENA) {
        take(p, from, block, 0, sw_min(bytes, room));
        received(p, from, bytes);
        return true;
    }
    sw_pieces_t all = pieces_of(p, from, bytes);
    uint64_t bit = claim(p, theirs, mine, all);
    if (bit) {
        size_t begin, end;
        stretch_of(all, bit, bytes, room, &begin, &end);
        take(p, from, block, begin, end);
        finish(p, mine, all, bit);
    } else if (sw_row_ticked(s->on, mine, all)) {
        received(p, from, bytes);
        return true;
    } else if (theirs->form == SW_FORM_ARENA) {
        sw_schedule_deserted(s, from, mine, all);
    }
    return bit;
}

/* Copies a piece from one member to another. */
static bool carry(sw_pairs_t *p, int from, const sw_slate_row_t *source, int to,
                  sw_slate_row_t *target)
{
    uint64_t bytes, room;
    const char *block = block_of(p, from, source, to, &bytes);
    char *place = place_of(p, to, target, from, &room);
    sw_pieces_t all = pieces_of(p, from, bytes);
    uint64_t bit = claim(p, source, target, all);
    size_t begin, end;
    if (!bit)
        return false;
    stretch_of(all, bit, bytes, room, &begin, &end);
    sw_copy(place + begin, block + begin, end - begin);
    finish(p, target, all, bit);
    return true;
}

/* Does a piece of what goes to another member, from any. */
static bool help(sw_pairs_t *p, int to)
{
    sw_schedule_t *s = &p->schedule;
    int n = s->on->n;
    sw_slate_row_t *target = (sw_slate_row_t *)(uintptr_t)sw_schedule_look(s,
                                                                           to);
    if (!target)
        return false;
    bool all = true;
    for (int k = 0; k < n && is_open(target) && !s->status; k++) {
        int from = s->on->me + k < n ? s->on->me + k : s->on->me + k - n;
        if (from == to || (from_root(p->args.id) && from != p->args.root))
            continue;
        const sw_slate_row_t *source = sw_schedule_look(s, from);
        all = all && source;
        if (source && source->form != SW_FORM_NONE &&
            source->form != SW_FORM_PUMPED &&
            carry(p, from, source, to, target))
            return true;
    }
    p->helped[to] = all;
    return false;
}

/* A member that waits looks at so many others' rows at a time. */
#define HELPED_AT_ONCE 4

static bool work(sw_schedule_t *s, bool calls)
{
    sw_pairs_t *p = (sw_pairs_t *)s;
    int n = s->on->n, me = s->on->me;
    if (sw_unlikely(p->pumped) && p->unread && pump(p))
        return true;
    for (int k = 1; k < n && p->unwritten && !s->status; k++) {
        int from = me + k < n ? me + k : me + k - n;
        if (!p->written[from] && take_from(p, from))
            return true;
    }
    for (int k = sw_min((size_t)n - 1, HELPED_AT_ONCE); k && !s->status; k--) {
        int to = p->next = p->next + 1 < n ? p->next + 1 : 0;
        if (!p->helped[to] && help(p, to))
            return true;
    }
    return false;
}

/* Has a receiver read what this member lends it? */
static bool was_read(sw_pairs_t *p, int to)
{
    sw_schedule_t *s = &p->schedule;
    const sw_slate_row_t *row = sw_schedule_look(s, to);
    if (!row)
        return false;
    sw_pieces_t all = pieces_of(p, s->on->me, bytes_for(p, to));
    return sw_row_ticked(s->on, row, all) ||
           sw_schedule_deserted(s, to, row, all);
}

static bool over(sw_schedule_t *s)
{
    sw_pairs_t *p = (sw_pairs_t *)s;
    for (int j = 0; j < s->on->n && p->unread && !p->pumped; j++)
        if (!p->read[j] && was_read(p, j)) {
            p->read[j] = true;
            p->unread--;
        }
    return !p->unread && !p->unwritten;
}

/* Beginning and end -------------------------------------------------------- */

static void end(sw_schedule_t *s)
{
    sw_pairs_t *p = (sw_pairs_t *)s;
    int n = p->collects ? s->on->n : 1;
    sw_temporary_free(p->packed);
    for (int i = 0; i < n && p->open; i++) {
        sw_data_t place = sw_block_data(&p->args.recvs, p->args.recv, i);
        if (!p->collects || i != s->on->me)
            sw_data_fetch(&place, 0, sw_block(&p->args.recvs, i).bytes);
    }
}

/* Copies this member's own block. */
static void keep(sw_pairs_t *p)
{
    int me = p->schedule.on->me;
    int from = block_for(p, me), to = place_for(p, me);
    sw_data_t block = sw_block_data(&p->args.sends, p->args.send, from);
    sw_data_t place = sw_block_data(&p->args.recvs, p->args.recv, to);
    uint64_t bytes = sw_block(&p->args.sends, from).bytes;
    uint64_t room = sw_block(&p->args.recvs, to).bytes;
    sw_source_keep(&block, &place, sw_min(bytes, room));
    if (bytes > room)
        p->schedule.result = SW_TRUNCATED;
}

/* What this member will get, and from how many. */
static void expect_senders(sw_pairs_t *p, int n, int me)
{
    for (int i = 0; i < n; i++) {
        bool sends = i != me && p->receives && room_for(p, i) &&
                     (!from_root(p->args.id) || i == p->args.root);
        p->written[i] = !sends;
        p->unwritten += sends;
        p->helped[i] = i == me || (to_root(p->args.id) && i != p->args.root) ||
                       (from_root(p->args.id) && i == p->args.root);
    }
}

static const sw_schedule_kind_t pairs_kind = {post, work, over, end};

void sw_pairs_begin(sw_pairs_t *p, sw_slates_t *on)
{
    const sw_coll_move_t *args = &p->args;
    size_t n = (size_t)on->n;
    bool is_root = on->me == args->root, to = to_root(args->id);
    bool from = from_root(args->id);
    bool *flags = (bool *)sw_scratch(&p->schedule.room, 3 * n);
    if (!flags) {
        sw_say("out of memory for a nonblocking collective");
        abort();
    }
    p->read = flags;
    p->written = flags + n;
    p->helped = flags + 2 * n;
    p->deals = deals(args->id);
    p->collects = collects(args->id);
    p->sends = from ? is_root : !to || !is_root;
    p->receives = to ? is_root : !from || !is_root;
    p->lent = p->pumped = p->open = false;
    p->packed = NULL;
    p->unread = p->unwritten = 0;
    p->next = on->me;
    expect_senders(p, on->n, on->me);
    sw_schedule_begin(
        &p->schedule, &pairs_kind, on,
        sw_sequence_what((int)args->id, to || from ? args->root : 0));
    if (args->id != SW_COLL_BCAST && !args->in_place &&
        ((!to && !from) || is_root))
        keep(p);
}
