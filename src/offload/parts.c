/*
 * parts.c - see parts.h.
 */
#include "parts.h"

#include "notices.h"
#include "room.h"

enum { SENDER, RECEIVER };

/* A start may be posted while the receiver has not left the one before. */
#define DEPTH 2

/* Not the number of any collective. */
#define WHAT 0xfe

static size_t bits_bytes(unsigned words)
{
    return sw_round_up((words + !words) * sizeof(uint64_t), SW_PAIR);
}

static size_t flags_bytes(unsigned words)
{
    return sw_round_up((size_t)(words + !words) * SW_SLATE_BITS, SW_PAIR);
}

static size_t where_bytes(unsigned partitions)
{
    return sw_round_up((size_t)partitions * sizeof(uint64_t), SW_PAIR);
}

static unsigned words_of(unsigned partitions, unsigned split)
{
    return (unsigned)(((uint64_t)partitions * split + SW_SLATE_BITS - 1) /
                      SW_SLATE_BITS);
}

static size_t bank_bytes(unsigned partitions, unsigned split, uint64_t copied)
{
    unsigned words = words_of(partitions, split);
    return flags_bytes(words) + 2 * bits_bytes(words) +
           where_bytes(partitions) + sw_round_up(copied, SW_PAIR);
}

/* The bank of a start; `copied`: bytes that are copied. */
static sw_parts_bank_t bank_of(char *board, uint64_t step, unsigned partitions,
                               unsigned split, uint64_t bytes, uint64_t copied)
{
    unsigned words = words_of(partitions, split);
    size_t each = bits_bytes(words);
    char *at = board + (step & 1) * bank_bytes(partitions, split, copied);
    _Atomic uint8_t *ready = (_Atomic uint8_t *)(void *)at;
    at += flags_bytes(words);
    return (sw_parts_bank_t){
        .partitions = partitions,
        .split = split,
        .words = words,
        .bytes = bytes,
        .ready = ready,
        .claims = (_Atomic uint64_t *)(void *)at,
        .ticks = (_Atomic uint64_t *)(void *)(at + each),
        .where = (_Atomic uint64_t *)(void *)(at + 2 * each),
        .copy = copied ? at + 2 * each + where_bytes(partitions) : NULL};
}

/* Bits of the pieces in a word, if all of them are. */
static uint64_t all_of(const sw_parts_bank_t *b, unsigned word)
{
    uint64_t left = (uint64_t)b->partitions * b->split -
                    (uint64_t)word * SW_SLATE_BITS;
    return sw_schedule_bits(0, (unsigned)sw_min(left, (uint64_t)SW_SLATE_BITS));
}

/* Bits of those pieces in a word that are ready and not among `seen`. */
static uint64_t ready_in(const sw_parts_bank_t *b, unsigned word, uint64_t seen)
{
    uint64_t bits = 0;
    for (uint64_t left = all_of(b, word) & ~seen; left; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        uint64_t flag = atomic_load_explicit(
            &b->ready[(size_t)word * SW_SLATE_BITS + bit],
            memory_order_acquire);
        bits |= flag << bit;
    }
    return bits;
}

/* Bytes [*begin, *end) of the message: a piece. */
static void piece(const sw_parts_bank_t *b, uint64_t index, uint64_t *begin,
                  uint64_t *end)
{
    uint64_t each = sw_round_up((b->bytes + b->split - 1) / b->split, SW_LINE);
    uint64_t base = index / b->split * b->bytes;
    *begin = base + sw_min(index % b->split * each, b->bytes);
    *end = base + sw_min((index % b->split + 1) * each, b->bytes);
}

/* The sender's end --------------------------------------------------------- */

static uint64_t copied(const sw_parts_t *p)
{
    return p->eager ? p->partitions * p->bytes : 0;
}

/* The board has a name of its own. */
static uint64_t name_of_board(uint64_t name)
{
    return ~name;
}

bool sw_parts_open(sw_parts_t *p, sw_team_t *team, uint64_t name,
                   unsigned partitions, uint64_t bytes, bool eager)
{
    unsigned most = partitions && partitions < SW_SLATE_BITS
                        ? SW_SLATE_BITS / partitions
                        : 1;
    p->partitions = partitions;
    p->bytes = bytes;
    p->split = sw_schedule_pieces(bytes / 8, most);
    p->eager = eager;
    p->board = NULL;
    if (team->me == SENDER) {
        size_t size = 2 * bank_bytes(partitions, p->split, copied(p));
        p->board = sw_notice_put(
            &(sw_notice_want_t){.name = name_of_board(name),
                                .n = 2,
                                .bytes = size,
                                .zeroed = size,
                                .anywhere = true});
        if (!p->board)
            sw_notice_refuse(name);
    }
    p->on = sw_slates_open(team, name, DEPTH);
    return team->me == RECEIVER || !p->on->refused;
}

void sw_parts_close(sw_parts_t *p)
{
    if (p->board)
        sw_notice_leave(p->board);
    sw_slates_close(p->on);
}

static void clear(sw_parts_bank_t *b)
{
    for (unsigned i = 0; i < b->words * SW_SLATE_BITS; i++)
        atomic_store_explicit(&b->ready[i], 0, memory_order_relaxed);
    for (unsigned i = 0; i < b->words; i++) {
        atomic_store_explicit(&b->claims[i], 0, memory_order_relaxed);
        atomic_store_explicit(&b->ticks[i], 0, memory_order_relaxed);
    }
}

char *sw_parts_copy(const sw_parts_t *p, unsigned partition)
{
    return p->bank.copy + partition * p->bytes;
}

void sw_parts_ready(sw_parts_t *p, unsigned partition, uint64_t where)
{
    const sw_parts_bank_t *b = &p->bank;
    /* After the last flag another thread may complete all this and free it. */
    sw_slates_t *on = p->schedule.on;
    const unsigned split = b->split;
    if (!b->copy)
        atomic_store_explicit(&b->where[partition], where,
                              memory_order_relaxed);
    _Atomic uint8_t *ready = b->ready + (size_t)partition * split;
    for (unsigned i = 0; i < split; i++)
        atomic_store_explicit(&ready[i], 1, memory_order_release);
    sw_slates_ring(on);
}

/* Posting ------------------------------------------------------------------ */

static void post(sw_schedule_t *s, sw_slate_row_t *row)
{
    sw_parts_t *p = (sw_parts_t *)s;
    row->form = SW_FORM_NONE;
    row->bytes = p->bytes;
    row->send = row->recv = (sw_part_t){.form = SW_FORM_NONE};
    if (s->on->me == SENDER) {
        row->form = p->eager ? SW_FORM_STAGED : SW_FORM_ARENA;
        row->listed = (uint16_t)p->split;
        row->send = (sw_part_t){.form = row->form, .bytes = p->partitions};
        return;
    }
    uint64_t there = p->to.layout || !p->room
                         ? UINT64_MAX
                         : sw_schedule_show(s, p->to.at, p->room);
    p->open = there != UINT64_MAX;
    if (!p->open)
        return;
    row->recv = (sw_part_t){
        .address = there, .form = SW_FORM_ARENA, .bytes = p->room};
    sw_schedule_open(s);
}

/* The other member's row, or NULL. The receiver learns of the bank. */
static const sw_slate_row_t *meet(sw_parts_t *p)
{
    sw_schedule_t *s = &p->schedule;
    const sw_slate_row_t *row = sw_schedule_look(s, !s->on->me);
    if (sw_likely(!row || atomic_load_explicit(&p->met, memory_order_relaxed)))
        return row;
    uint32_t note;
    bool refused; /* not: the sender has posted */
    if (!p->board)
        p->board = sw_notice_find(s->on->team->peer[SENDER],
                                  name_of_board(s->on->name), &note, &refused);
    if (!p->board)
        return NULL; /* its sender changes the table just now */
    unsigned partitions = (unsigned)row->send.bytes;
    bool eager = row->form == SW_FORM_STAGED;
    p->bank = bank_of(p->board, s->step, partitions, row->listed, row->bytes,
                      eager ? partitions * row->bytes : 0);
    atomic_store_explicit(&p->met, true, memory_order_release);
    return row;
}

/* Working ------------------------------------------------------------------ */

/* Bytes that a member claims at once, in pieces that are smaller. */
#define AT_ONCE 65536

/* The lowest of these bits, and those that follow without a gap; so many of
 * them at most. */
static uint64_t run_of(uint64_t bits, uint64_t most)
{
    uint64_t low = bits & -bits;
    uint64_t run = bits & ~(bits + low);
    return most >= SW_SLATE_BITS ? run : run & ((low << most) - low);
}

/* Claims pieces that are ready and that no member has. While they are claimed,
 * the memory on both sides is there. Their bits in a word; 0: there are
 * none. */
static uint64_t claim(sw_parts_t *p, unsigned *word)
{
    const sw_parts_bank_t *b = &p->bank;
    uint64_t most = AT_ONCE / (b->bytes / b->split + 1) + 1;
    for (unsigned w = p->claimed; w < b->words; w++) {
        uint64_t seen = atomic_load_explicit(&b->claims[w],
                                             memory_order_relaxed);
        uint64_t ready = ready_in(b, w, seen);
        while (ready & ~seen) {
            uint64_t run = run_of(ready & ~seen, most);
            uint64_t before = atomic_fetch_or_explicit(&b->claims[w], run,
                                                       memory_order_acq_rel);
            if (run & ~before) {
                *word = w;
                return run & ~before;
            }
            seen = before | run;
        }
        if (w == p->claimed && seen == all_of(b, w))
            p->claimed++;
    }
    return 0;
}

static const char *source(const sw_parts_t *p, uint64_t index, uint64_t begin)
{
    const sw_parts_bank_t *b = &p->bank;
    if (b->copy)
        return b->copy + begin;
    uint64_t partition = index / b->split;
    uint64_t where = atomic_load_explicit(&b->where[partition],
                                          memory_order_relaxed);
    const char *at = p->schedule.on->me == SENDER
                         ? sw_room_own(where)
                         : sw_room_at(p->schedule.on->team->peer[SENDER],
                                      where);
    return at + (begin - partition * b->bytes);
}

/* Copies bytes [begin, end) of the message, which lie at `from`. */
static void copy(sw_parts_t *p, const sw_slate_row_t *theirs, const char *from,
                 uint64_t begin, uint64_t end)
{
    if (p->schedule.on->me == SENDER) {
        end = sw_min(end, theirs->recv.bytes);
        if (begin < end)
            sw_copy(p->schedule.on->team->peer[RECEIVER]->arena +
                        theirs->recv.address + begin,
                    from, end - begin);
        return;
    }
    end = sw_min(end, p->room);
    if (begin >= end)
        return;
    sw_data_t data = sw_data_plain(from - begin);
    sw_data_copy(&data, &p->to, begin, end);
    if (p->open)
        sw_show_stage(p->to.at + begin, end - begin);
}

static void copy_pieces(sw_parts_t *p, const sw_slate_row_t *theirs,
                        unsigned word, uint64_t bits)
{
    for (uint64_t left = bits; left; left &= left - 1) {
        uint64_t begin, end,
            index = (uint64_t)word * SW_SLATE_BITS +
                    (unsigned)__builtin_ctzll(left);
        piece(&p->bank, index, &begin, &end);
        copy(p, theirs, source(p, index, begin), begin, end);
    }
}

static bool work(sw_schedule_t *s, bool calls)
{
    sw_parts_t *p = (sw_parts_t *)s;
    const sw_slate_row_t *theirs = meet(p);
    unsigned word;
    if (!theirs || (s->on->me == SENDER && theirs->recv.form != SW_FORM_ARENA))
        return false;
    sw_slate_touch(s->on);
    bool there = theirs->form == SW_FORM_STAGED ||
                 !sw_row_left(theirs, s->turn);
    uint64_t bits = there ? claim(p, &word) : 0;
    if (bits) {
        copy_pieces(p, theirs, word, bits);
        atomic_fetch_or_explicit(&p->bank.ticks[word], bits,
                                 memory_order_release);
    }
    sw_slate_touched(s->on);
    return bits;
}

/* Over --------------------------------------------------------------------- */

static bool all_ready(const sw_parts_bank_t *b)
{
    for (unsigned w = 0; w < b->words; w++)
        if (ready_in(b, w, 0) != all_of(b, w))
            return false;
    return true;
}

static bool all_copied(const sw_parts_bank_t *b)
{
    for (unsigned w = 0; w < b->words; w++)
        if (atomic_load_explicit(&b->ticks[w], memory_order_acquire) !=
            all_of(b, w))
            return false;
    return true;
}

static bool over(sw_schedule_t *s)
{
    sw_parts_t *p = (sw_parts_t *)s;
    if (s->on->me == SENDER && p->eager)
        return all_ready(&p->bank) && sw_slate_free(s->on, s->step + 1);
    const sw_slate_row_t *theirs = meet(p);
    if (!theirs)
        return false;
    if (all_copied(&p->bank)) {
        if (s->on->me == RECEIVER && sw_parts_received(p) > p->room)
            s->result = SW_TRUNCATED;
        return true;
    }
    if (theirs->form != SW_FORM_STAGED && sw_row_left(theirs, s->turn) &&
        !all_copied(&p->bank))
        sw_schedule_bad(s, SW_BROKEN);
    return false;
}

static void end(sw_schedule_t *s)
{
}

static const sw_schedule_kind_t parts_kind = {post, work, over, end};

void sw_parts_begin(sw_parts_t *p)
{
    p->open = false;
    p->claimed = 0;
    bool sends = p->on->me == SENDER;
    atomic_store_explicit(&p->met, sends, memory_order_relaxed);
    if (sends) {
        p->bank = bank_of(p->board, p->on->step + 1, p->partitions, p->split,
                          p->bytes, copied(p));
        clear(&p->bank);
    }
    sw_schedule_begin(&p->schedule, &parts_kind, p->on,
                      sw_sequence_what(WHAT, 0));
}

bool sw_parts_arrived(const sw_parts_t *p, uint64_t begin, uint64_t end)
{
    const sw_parts_bank_t *b = &p->bank;
    if (sw_schedule_is_over(&p->schedule))
        return true;
    if (!atomic_load_explicit(&p->met, memory_order_acquire))
        return false;
    if (begin >= end)
        return true;
    if (begin >= sw_parts_received(p))
        return false; /* until all has come */
    uint64_t first = begin / b->bytes * b->split;
    uint64_t last = sw_min(((end - 1) / b->bytes + 1) * b->split,
                           (uint64_t)b->partitions * b->split);
    for (uint64_t i = first; i < last; i++)
        if (!(atomic_load_explicit(&b->ticks[i / SW_SLATE_BITS],
                                   memory_order_acquire) >>
                  i % SW_SLATE_BITS &
              1))
            return false;
    return true;
}

uint64_t sw_parts_received(const sw_parts_t *p)
{
    return p->bank.partitions * p->bank.bytes;
}
