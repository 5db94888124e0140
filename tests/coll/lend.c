/*
 * lend.c - a keeper reads what members hand in or lend, and writes what they
 * lend to be written, wherever their memory lies. No member copies data that
 * lie in an arena.
 */
#include "scattered.h"

#include "coll/lend.h"

/* Each hands a block in. The keeper may expect another size than a member
 * has. */
static void hand_in(member_t *m, int round, bool equal)
{
    sw_spot_t place[64];
    int keeper = below(&m->common, m->n);
    size_t bytes[64], each = pick_size(m, 1);
    for (int i = 0; i < m->n; i++)
        bytes[i] = equal ? each : pick_size(m, 1);
    size_t mine = bytes[m->me];
    sw_data_t data = take_data(m, mine);
    fill_data(&data, mine, key_of((uint64_t)round, m->me, 0));
    if (m->me != keeper) {
        sw_lend_block(m->seq, keeper, &data, mine);
    } else {
        expect_ok(m, sw_lend_collect(m->seq, &data, mine, equal ? &each : NULL,
                                     place));
        for (int i = 0; i < m->n; i++) {
            if (place[i].bytes != bytes[i] || place[i].came != bytes[i])
                fail(m, "a block of %zu bytes has %zu", bytes[i],
                     (size_t)place[i].bytes);
            expect_data(m, place[i].at, bytes[i], key_of((uint64_t)round, i, 0),
                        "handed in");
        }
        sw_lend_collect_end(m->seq, place);
    }
    expect_there(m, &data, mine, key_of((uint64_t)round, m->me, 0),
                 "what is handed in");
}

#define LOTS 40 /* places that a member lends: more than an entry holds */

/* What member i lends, drawn alike by all. */
typedef struct {
    int count;
    size_t bytes[LOTS], came[LOTS];
} lot_t;

static lot_t draw_lot(member_t *m, bool writes)
{
    lot_t lot = {.count = below(&m->common, 4) ? below(&m->common, 3) + 1
                                               : LOTS};
    for (int i = 0; i < lot.count; i++) {
        lot.bytes[i] = pick_size(m, lot.count);
        lot.came[i] = lot.bytes[i];
        if (writes && !below(&m->common, 4))
            lot.came[i] = below(&m->common, 2) ? lot.bytes[i] / 2
                                               : lot.bytes[i] + 9;
    }
    return lot;
}

static void lend(member_t *m, int round, int keeper, const lot_t *lot,
                 bool writes)
{
    sw_spot_t place[LOTS];
    for (int i = 0; i < lot->count; i++) {
        place[i] = (sw_spot_t){.at = take_buffer(m, lot->bytes[i]),
                               .bytes = lot->bytes[i]};
        if (!writes)
            fill(place[i].at, lot->bytes[i], key_of((uint64_t)round, m->me, i));
    }
    sw_lend(m->seq, keeper, place, lot->count, writes);
    for (int i = 0; i < lot->count; i++) {
        size_t n = writes ? sw_min(lot->came[i], lot->bytes[i]) : lot->bytes[i];
        expect_data(m, place[i].at, n, key_of((uint64_t)round, m->me, i),
                    "lent");
        if (writes && place[i].came != lot->came[i])
            fail(m, "%zu bytes came, not %zu", (size_t)place[i].came,
                 lot->came[i]);
        if (written(place[i].at + n, lot->bytes[i] - n) < lot->bytes[i] - n)
            fail(m, "bytes behind what came are not as they were");
    }
}

static void borrow(member_t *m, int round, const lot_t *lot, bool writes)
{
    sw_spot_t place[8][LOTS];
    sw_loan_t loan[8];
    sw_loan_begin(m->seq);
    for (int i = 0; i < m->n; i++)
        if (i != m->me && lot[i].count)
            expect_ok(m, sw_loan_take(m->seq, i, writes, place[i], lot[i].count,
                                      &loan[i]));
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < lot[i].count && i != m->me; j++) {
            sw_spot_t *p = &place[i][j];
            uint64_t key = key_of((uint64_t)round, i, j);
            if (p->bytes != lot[i].bytes[j])
                fail(m, "%zu bytes lent, not %zu", (size_t)p->bytes,
                     lot[i].bytes[j]);
            if (!writes)
                expect_data(m, p->at, p->bytes, key, "borrowed");
            p->came = lot[i].came[j];
            if (writes)
                fill(p->at, sw_min(p->came, p->bytes), key);
        }
    for (int i = 0; i < m->n; i++)
        if (i != m->me && lot[i].count)
            expect_ok(m, sw_loan_return(m->seq, writes, place[i], &loan[i]));
    sw_loan_end(m->seq);
}

/* Some lend, and others have no part. Where the keeper calls, they find that
 * out; where it deals instead, they take their blocks. */
static void lend_round(member_t *m, int round)
{
    lot_t lot[8];
    int keeper = below(&m->common, m->n);
    bool writes = below(&m->common, 2), calls = below(&m->common, 2);
    for (int i = 0; i < m->n; i++) {
        lot[i] = draw_lot(m, writes);
        if (!below(&m->common, 4))
            lot[i].count = 0;
    }
    if (calls && m->me == keeper)
        sw_lend_call(m->seq);
    else if (calls && !sw_lend_called(m->seq, keeper))
        fail(m, "a call was not heard");
    if (m->me == keeper)
        borrow(m, round, lot, writes);
    else
        lend(m, round, keeper, &lot[m->me], writes);
}

static void deal_round(member_t *m, int round)
{
    int keeper = below(&m->common, m->n);
    size_t bytes = 1 + pick_size(m, m->n);
    char *all = take_buffer(m, bytes * (size_t)m->n);
    char *mine = take_buffer(m, bytes);
    for (int i = 0; i < m->n; i++)
        fill(all + (size_t)i * bytes, bytes, key_of((uint64_t)round, 0, i));
    if (m->me != keeper && sw_lend_called(m->seq, keeper))
        fail(m, "a deal was taken for a call");
    expect_ok(m, sw_coll_scatter(m->seq, keeper, all,
                                 &(sw_blocks_t){.bytes = bytes}, PLAIN(mine),
                                 bytes));
    expect_data(m, mine, bytes, key_of((uint64_t)round, 0, m->me), "dealt");
}

/* Members that share arenas copy nothing that lies there. */
static void in_place(member_t *m)
{
    size_t n = 300000;
    char *block = sw_arena_alloc(n, SW_LINE);
    sw_data_t data = sw_data_plain(block);
    sw_spot_t lent = {.at = block, .bytes = n}, place[64];
    sw_loan_t loan;
    if (!m->seq->team->arena || !block)
        return;
    memset(block, m->me, n);
    for (int i = 0; i < 3; i++) {
        if (m->me == 0) {
            expect_ok(m, sw_lend_collect(m->seq, &data, n, &n, place));
            for (int k = 0; k < m->n; k++)
                if (i && place[k].copy)
                    fail(m, "a block in an arena was copied");
            sw_lend_collect_end(m->seq, place);
            sw_loan_begin(m->seq);
            expect_ok(m, sw_loan_take(m->seq, 1, true, place, 1, &loan));
            if (i && place[0].copy)
                fail(m, "a place in an arena was copied");
            place[0].came = n;
            expect_ok(m, sw_loan_return(m->seq, true, place, &loan));
            sw_loan_end(m->seq);
        } else {
            sw_lend_block(m->seq, 0, &data, n);
            sw_lend(m->seq, 0, &lent, m->me == 1, true);
        }
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    sw_arena_free(block);
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 20 : 60);
    in_place(m);
    for (int round = 0; round < count; round++) {
        dawdle(m);
        int kind = below(&m->common, 4);
        if (kind < 2 || m->n > 8)
            hand_in(m, round, kind == 0);
        else if (kind == 2)
            lend_round(m, round);
        else
            deal_round(m, round);
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
