/*
 * neighbourhood.c - several neighbourhood collectives are under way at once,
 * over random graphs. Members learn late which block comes on which edge, and
 * end their collectives in any order. A member that gives up holds no other
 * member up.
 */
#define EDGES_MAX 600 /* a table of so many does not fit an area */

#include "coll/graph.h"
#include "offload/neighbourhood.h"
#include "schedules.h"

#define AT_ONCE 5

typedef struct {
    sw_neighbourhood_t schedule;
    bool gathers, over;
    uint64_t round;
    _Atomic(const int *) index;
    void *send;
    size_t bytes; /* of all that is in `send` */
    sw_extent_t out[EDGES_MAX];
    sw_data_t out_data[EDGES_MAX];
    recv_t in;
} near_t;

static const int *index_of(void *way)
{
    return atomic_load(&((near_t *)way)->index);
}

static void begin_alltoall(member_t *m, const graph_t *all, near_t *x,
                           size_t bytes, bool equal,
                           sw_neighbourhood_args_t *args)
{
    int outs = all->mine.outs, gap = below(&m->own, 3) ? 30 : 5000;
    for (int i = 0; i < outs; i++) {
        x->out[i].bytes = equal ? bytes : size_of(x->round, m->me, i, bytes);
        x->out[i].offset = (int64_t)((size_t)i * bytes);
    }
    x->bytes = (bytes + (size_t)gap) * (size_t)outs;
    args->sends.bytes = bytes;
    if (!equal || below(&m->own, 2)) {
        args->sends.list = x->out;
        lay_out(m, x->out, outs, gap);
    }
    if (m->held + outs < BUFFERS / 2 && below(&m->own, 2)) {
        take_blocks(m, x->out, x->out_data, outs);
        args->sends.data = x->out_data;
    } else {
        x->send = take_buffer(m, x->bytes);
    }
    for (int i = 0; i < outs; i++) {
        sw_data_t block = sw_block_data(&args->sends, x->send, i);
        fill_data(&block, x->out[i].bytes, key_of(x->round, m->me, i));
    }
    /* At times the blocks' numbers are known from the start. */
    args->index = index_of;
    args->way = x;
    if (below(&m->own, 2))
        atomic_store(&x->index, all->index);
}

static void begin_allgather(member_t *m, near_t *x, size_t bytes, bool equal,
                            sw_neighbourhood_args_t *args)
{
    size_t mine = equal ? bytes : size_of(x->round, m->me, 0, bytes);
    x->out_data[0] = take_data(m, mine);
    args->sends = (sw_blocks_t){.bytes = mine, .data = x->out_data};
    if (!x->out_data[0].layout) {
        args->sends.data = NULL;
        x->send = x->out_data[0].at;
        x->bytes = mine;
    }
    fill_data(&x->out_data[0], mine, key_of(x->round, m->me, 0));
}

static void begin(member_t *m, const graph_t *all, near_t *x, sw_slates_t *s,
                  uint64_t round)
{
    size_t bytes = pick_size(m, 4);
    bool equal = below(&m->common, 2);
    if (all->n > 200 || m->n > 9)
        bytes = sw_min(bytes, 3000);
    x->over = false;
    x->round = round;
    x->gathers = below(&m->common, 3) == 0;
    x->send = NULL;
    x->bytes = 0;
    atomic_store(&x->index, NULL);
    sw_neighbourhood_args_t args = {.id = x->gathers
                                              ? SW_COLL_NEIGHBOR_ALLGATHER
                                              : SW_COLL_NEIGHBOR_ALLTOALL,
                                    .all = &all->mine};
    if (x->gathers)
        begin_allgather(m, x, bytes, equal, &args);
    else
        begin_alltoall(m, all, x, bytes, equal, &args);
    expect(m, all, &x->in, round, bytes, equal, x->gathers);
    args.send = x->send;
    args.recv = x->in.recv;
    args.recvs = x->in.blocks;
    x->schedule.args = args;
    sw_neighbourhood_begin(&x->schedule, s);
    sw_schedule_set_out(&x->schedule.schedule);
}

static void push(member_t *m, const graph_t *all, near_t *x)
{
    if (x->over)
        return;
    if (!x->gathers && below(&m->own, 3) == 0)
        atomic_store(&x->index, all->index);
    if (!sw_schedule_push(&x->schedule.schedule, true))
        return;
    expect_ok(m, sw_schedule_end(&x->schedule.schedule));
    check(m, all, &x->in, x->round, x->gathers);
    if (x->send) /* it is this member's again */
        memset(x->send, 0x5a, x->bytes);
    x->over = true;
}

static void some(member_t *m, const graph_t *all, near_t *x, sw_slates_t *s,
                 uint64_t *round)
{
    int count = 1 + below(&m->common, m->n > 9 ? 2 : AT_ONCE), over = 0;
    for (int i = 0; i < count; i++) {
        begin(m, all, &x[i], s, ++*round);
        dawdle(m);
        if (below(&m->own, 2))
            push(m, all, &x[below(&m->own, i + 1)]);
    }
    unsigned turns = 0;
    while (over < count) {
        push(m, all, &x[below(&m->own, count)]);
        over = 0;
        for (int i = 0; i < count; i++)
            over += x[i].over;
        sw_wait_turn(&turns);
    }
    release_buffers(m);
}

/* Has this member posted its row? A second thread may push the schedule now. */
static bool has_posted(sw_schedule_t *s)
{
    while (atomic_exchange(&s->held, true))
        sw_os_pause();
    bool posted = s->posted;
    atomic_store(&s->held, false);
    return posted;
}

/* One member gives up, some time after it has posted. What the others have got
 * is right, and those that cannot get theirs are told. */
static void one_gives_up(member_t *m, const graph_t *all, near_t *x,
                         uint64_t *round)
{
    sw_slates_t *s = open_slates(m, 0);
    int who = below(&m->common, m->n), pushes = below(&m->own, 3);
    unsigned turns = 0;
    begin(m, all, x, s, ++*round);
    atomic_store(&x->index, all->index);
    if (m->me != who && below(&m->own, 2))
        usleep(2000); /* it has given up, and writes to its memory */
    for (int i = 0; !sw_schedule_push(&x->schedule.schedule, true); i++) {
        if (m->me == who && i >= pushes && has_posted(&x->schedule.schedule))
            sw_schedule_break(&x->schedule.schedule);
        sw_wait_turn(&turns);
    }
    int rc = sw_schedule_end(&x->schedule.schedule);
    if (rc == SW_OK)
        check(m, all, &x->in, x->round, x->gathers);
    else if (rc != SW_BROKEN && rc != SW_MISMATCH)
        fail(m, "a schedule that a member has left says %d", rc);
    if (x->send)
        memset(x->send, 0x5a, x->bytes);
    expect_ok(m, sw_coll_barrier(m->seq));
    release_buffers(m);
    sw_slates_close(s);
}

static void body(member_t *m)
{
    static _Thread_local near_t x[AT_ONCE];
    static _Thread_local graph_t all;
    uint64_t round = m->seed << 20;
    _Atomic bool quit = false;
    pthread_t helper;
    if (!m->seq->team->arena)
        return;
    bool helped = below(&m->own, 2) && m->n < 9;
    if (strcmp(m->way, "threads"))
        sw_schedules_shared = helped;
    if (helped && pthread_create(&helper, NULL, help_out, &quit))
        fail(m, "no second thread");
    sw_slates_t *s = open_slates(m, below(&m->common, 2) ? 0 : 2);
    int count = rounds(m->n > 9 ? 10 : 40);
    for (int i = 0; i < count; i++) {
        if (i % 8 == 0)
            draw_graph(m, &all,
                       below(&m->common, 6) ? 4 * m->n
                       : m->n > 9           ? 200
                                            : 2500);
        some(m, &all, x, s, &round);
        if (i % 4 == 3)
            one_gives_up(m, &all, x, &round);
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    atomic_store(&quit, true);
    if (helped)
        pthread_join(helper, NULL);
    sw_slates_close(s);
    for (int i = 0; i < AT_ONCE; i++)
        sw_scratch_end(&x[i].schedule.schedule.room);
}

int main(int argc, char **argv)
{
    sw_schedules_shared = true;
    return run_everywhere(argc, argv, body);
}
