/*
 * schedules.h - what the tests of schedules share: a collective that was drawn
 * at random, begun, and checked once it is over.
 */
#ifndef SW_TEST_OFFLOAD_SCHEDULES_H
#define SW_TEST_OFFLOAD_SCHEDULES_H

#include "coll/scattered.h"
#include "coll/operators.h"
#include "offload/arrival.h"
#include "offload/folds.h"
#include "offload/pairs.h"

#include <pthread.h>

#define MEMBERS 64

typedef struct {
    sw_pairs_t pairs;
    sw_fold_t fold;
    sw_arrival_t arrival;
    sw_schedule_t *schedule; /* one of these */
    sw_collective_t id;
    uint64_t round;
    int root;
    size_t bytes;
    bool in_place, over;
    operator_t o;
    sw_extent_t out[MEMBERS], in[MEMBERS];
    sw_data_t out_data[MEMBERS], in_data[MEMBERS];
    size_t counts[MEMBERS];
    void *send, *recv;
    sw_blocks_t sends, recvs;
} job_t;

/* Opens a block of slates. The leader names it, as no other of its process. */
static inline sw_slates_t *open_slates(member_t *m, unsigned depth)
{
    static _Atomic uint64_t names;
    uint64_t name = m->me == 0 ? atomic_fetch_add(&names, 1) + 1 : 0;
    expect_ok(m, sw_coll_bcast(m->seq, 0, PLAIN(&name), sizeof name));
    return sw_slates_open(m->seq->team, name, depth);
}

/* A second thread of a member, until *quit. */
static inline void *help_out(void *quit)
{
    while (!atomic_load((_Atomic bool *)quit)) {
        sw_schedules_push(false);
        usleep(50);
    }
    return NULL;
}

/* Blocks ------------------------------------------------------------------- */

static inline bool rooted(sw_collective_t id)
{
    return id == SW_COLL_BCAST || id == SW_COLL_GATHER ||
           id == SW_COLL_GATHERV || id == SW_COLL_SCATTER ||
           id == SW_COLL_SCATTERV || id == SW_COLL_REDUCE;
}
static inline bool equal(sw_collective_t id)
{
    return id != SW_COLL_GATHERV && id != SW_COLL_SCATTERV &&
           id != SW_COLL_ALLGATHERV && id != SW_COLL_ALLTOALLV;
}

/* What `from` sends to `to`, known to all. */
static inline size_t bytes_of(const job_t *j, int from, int to)
{
    bool each = j->id == SW_COLL_ALLTOALLV;
    uint64_t x = j->id == SW_COLL_SCATTERV
                     ? key_of(j->round, to, 0)
                     : key_of(j->round, from, each ? to : 0);
    return equal(j->id) ? j->bytes
           : x % 4 == 0 ? 0
                        : (size_t)(x >> 8) % (2 * j->bytes + 1);
}

static inline uint64_t data_key(const job_t *j, int from, int to)
{
    bool each = j->id == SW_COLL_ALLTOALL || j->id == SW_COLL_ALLTOALLV ||
                j->id == SW_COLL_SCATTER || j->id == SW_COLL_SCATTERV;
    return key_of(j->round * 31 + 7, from, each ? to : 0);
}

/* n blocks of the sizes in `list`: side by side, apart, or with gaps. (One
 * block is no list.) */
static inline void *take_side(member_t *m, sw_blocks_t *blocks,
                              sw_extent_t *list, sw_data_t *data, int n,
                              bool alike)
{
    int how = below(&m->own, 4);
    size_t at = 0;
    *blocks = (sw_blocks_t){.bytes = list[0].bytes};
    if (n > 1 && (!alike || how))
        blocks->list = list;
    if (how == 3) {
        take_blocks(m, list, data, n);
        blocks->data = data;
        return NULL;
    }
    for (int k = 0; k < n; k++) {
        int i = blocks->list ? n - 1 - k : k;
        at += how == 2 && blocks->list ? (size_t)below(&m->own, 100) : 0;
        list[i].offset = (int64_t)at;
        at += list[i].bytes;
    }
    return take_buffer(m, at);
}

static inline void begin_pairs(member_t *m, job_t *j, sw_slates_t *s)
{
    sw_collective_t id = j->id;
    bool to = id == SW_COLL_GATHER || id == SW_COLL_GATHERV;
    bool from = id == SW_COLL_BCAST || id == SW_COLL_SCATTER ||
                id == SW_COLL_SCATTERV;
    bool is_root = m->me == j->root;
    bool deals = id == SW_COLL_ALLTOALL || id == SW_COLL_ALLTOALLV ||
                 (from && id != SW_COLL_BCAST);
    bool collects = !from;
    bool sends = !from || is_root;
    bool receives = to ? is_root : id != SW_COLL_BCAST || !is_root;
    for (int i = 0; i < m->n; i++) {
        j->out[i].bytes = bytes_of(j, m->me, deals ? i : m->me);
        j->in[i].bytes = bytes_of(j, collects ? i : j->root, m->me);
    }
    if (sends)
        j->send = take_side(m, &j->sends, j->out, j->out_data, deals ? m->n : 1,
                            equal(id));
    if (receives)
        j->recv = take_side(m, &j->recvs, j->in, j->in_data,
                            collects ? m->n : 1, equal(id));
    for (int i = 0; i < (deals ? m->n : 1) && sends; i++) {
        sw_data_t block = sw_block_data(&j->sends, j->send, i);
        fill_data(&block, j->out[i].bytes,
                  data_key(j, m->me, deals ? i : m->me));
    }
    j->pairs.args = (sw_coll_move_t){.id = id,
                                     .root = j->root,
                                     .send = j->send,
                                     .recv = j->recv,
                                     .sends = j->sends,
                                     .recvs = j->recvs};
    sw_pairs_begin(&j->pairs, s);
    j->in_place = !receives;
}

static inline void check_pairs(member_t *m, job_t *j)
{
    bool from = j->id == SW_COLL_BCAST || j->id == SW_COLL_SCATTER ||
                j->id == SW_COLL_SCATTERV;
    for (int i = 0; i < (from ? 1 : m->n) && !j->in_place; i++) {
        sw_data_t block = sw_block_data(&j->recvs, j->recv, i);
        expect_there(m, &block, j->in[i].bytes,
                     data_key(j, from ? j->root : i, m->me),
                     sw_collective_title((sw_collective_t)j->id));
    }
}

/* Reductions --------------------------------------------------------------- */

static inline bool scattered(sw_collective_t id)
{
    return id == SW_COLL_REDUCE_SCATTER || id == SW_COLL_REDUCE_SCATTER_BLOCK;
}

static inline void begin_fold(member_t *m, job_t *j, sw_slates_t *s)
{
    sw_coll_fold_t a = {.id = j->id, .root = j->root, .reducer = &j->o.r};
    size_t elem = j->o.r.elem, result;
    a.n = j->bytes / elem + 1;
    a.each = a.n / (size_t)m->n + 1;
    if (scattered(j->id)) {
        size_t all = 0;
        for (int i = 0; i < m->n; i++) {
            j->counts[i] = j->id == SW_COLL_REDUCE_SCATTER
                               ? key_of(j->round, i, 0) % (2 * a.each)
                               : a.each;
            all += j->counts[i];
        }
        a.n = all;
        a.counts = j->id == SW_COLL_REDUCE_SCATTER ? j->counts : NULL;
    }
    result = scattered(j->id) ? j->counts[m->me] : a.n;
    j->bytes = a.n;
    bool gets = j->id != SW_COLL_REDUCE || m->me == j->root;
    j->in_place = gets && below(&m->common, 2);
    gets ? 0 : below(&m->common, 2);
    if (gets)
        j->recv = take_buffer(m, (j->in_place ? a.n : result) * elem);
    j->send = j->in_place ? j->recv : take_buffer(m, a.n * elem);
    operand(&j->o, j->send, a.n, key_of(j->round, m->me, 0));
    a.in = j->send;
    a.out = j->recv;
    j->fold.args = a;
    sw_fold_begin(&j->fold, s);
}

static inline void check_fold(member_t *m, job_t *j)
{
    bool scan = j->id == SW_COLL_SCAN || j->id == SW_COLL_EXSCAN;
    int last = j->id == SW_COLL_EXSCAN ? m->me - 1 : m->me;
    size_t start = 0, count = j->bytes;
    if (!j->recv || (scan && last < 0))
        return;
    for (int i = 0; i < m->me && scattered(j->id); i++)
        start += j->counts[i];
    if (scattered(j->id))
        count = j->counts[m->me];
    char *want = scan ? in_line(&j->o, j->round, 0, last, j->bytes)
                      : in_tree(&j->o, j->round, m->n, j->bytes);
    if (!right_result(&j->o, j->recv, want + start * j->o.r.elem, count, false))
        fail(m, "collective %d of %zu elements (%s%s) is wrong", (int)j->id,
             j->bytes, j->o.name, j->in_place ? ", in place" : "");
    free(want);
}

/* Any ---------------------------------------------------------------------- */

static const sw_collective_t drawn[] = {
    SW_COLL_BARRIER,        SW_COLL_BCAST,
    SW_COLL_GATHER,         SW_COLL_GATHERV,
    SW_COLL_SCATTER,        SW_COLL_SCATTERV,
    SW_COLL_ALLGATHER,      SW_COLL_ALLGATHERV,
    SW_COLL_ALLTOALL,       SW_COLL_ALLTOALLV,
    SW_COLL_REDUCE,         SW_COLL_ALLREDUCE,
    SW_COLL_REDUCE_SCATTER, SW_COLL_REDUCE_SCATTER_BLOCK,
    SW_COLL_SCAN,           SW_COLL_EXSCAN,
};

static inline void begin_any(member_t *m, job_t *j, sw_slates_t *s,
                             uint64_t round)
{
    memset(&j->schedule, 0, sizeof *j - offsetof(job_t, schedule));
    j->id = drawn[below(&m->common, sizeof drawn / sizeof *drawn)];
    j->round = round;
    j->root = below(&m->common, m->n);
    j->bytes = pick_size(m, m->n);
    j->o = operator_of(below(&m->common, OPERATORS));
    j->schedule = j->id == SW_COLL_BARRIER ? &j->arrival.schedule
                  : j->id < SW_COLL_REDUCE ? &j->pairs.schedule
                                           : &j->fold.schedule;
    if (j->id == SW_COLL_BARRIER)
        sw_arrival_begin(&j->arrival, s);
    else if (j->id < SW_COLL_REDUCE)
        begin_pairs(m, j, s);
    else
        begin_fold(m, j, s);
    sw_schedule_set_out(j->schedule);
}

static inline void end_any(member_t *m, job_t *j)
{
    expect_ok(m, sw_schedule_end(j->schedule));
    if (j->id >= SW_COLL_REDUCE)
        check_fold(m, j);
    else if (j->id != SW_COLL_BARRIER)
        check_pairs(m, j);
    j->over = true;
}

static inline void forget(job_t *j)
{
    sw_scratch_end(&j->pairs.schedule.room);
    sw_scratch_end(&j->fold.schedule.scratch);
    sw_scratch_end(&j->fold.schedule.room);
}

#endif
