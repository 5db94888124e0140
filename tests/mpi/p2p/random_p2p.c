/*
 * random_p2p.c - random programs of messages, checked byte by byte.
 *
 *   random_p2p SEED ROUNDS [--log PREFIX] [--max BYTES] [--threads N]
 *              [--from ROUND] [--shape NAME] [--without WORD,WORD...]
 *              [--trace]
 *
 * A program is a series of rounds, each a set of messages and exchanges that
 * every rank draws from (SEED, thread, round): see p2p_plan.h. Each end draws
 * how it calls by itself: see p2p_calls.h and p2p_complete.h. A receiver knows
 * what must come and compares its whole buffer. A sender checks that MPI left
 * its buffer alone.
 *
 * With --log every rank writes a line for each message received into
 * PREFIX.rank (PREFIX.rank.thread): a run on the host alone and a run with
 * Straightway must write the same.
 *
 * --threads plays one program in each of N threads, on communicators of their
 * own and on the world together. --shape draws one shape of round only. --from
 * starts at a round; --trace says each call. --without leaves out what the
 * words name:
 *
 *   derived, anysource, anytag, probe, persistent, buffered, synchronous,
 *   letgo, general, cancel, ring, replace
 *   room      more than the message needs
 *   memory    memory other than the heap
 *   ignore    no status
 */
#include "p2p_complete.h"
#include <pthread.h>

static player_t players[THREADS_MAX];
static char static_room[THREADS_MAX][ROOM_SIZE];
static long rounds, from;
static int only_shape = -1;

/* Drawing the calls ------------------------------------------------------ */

/* Will the sender free the request of its active send? */
static bool lets_go(const player_t *y, const item_t *m)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    /* This host then forgets what it sends to itself. */
    if (m->circle->from[m->who[0]] == m->circle->to[m->who[1]])
        return false;
#endif
    return m->let_go && y->plan.shape != PERSISTENT && has("letgo");
}

static int draw_send_mode(player_t *y, const item_t *m, bool may_block)
{
    static const int any[] = {SEND,      SEND,       SEND,      SSEND,  BSEND,
                              ISEND,     ISEND,      ISEND,     ISSEND, IBSEND,
                              SEND_INIT, SSEND_INIT, BSEND_INIT};
    static const int ready[] = {RSEND, IRSEND, RSEND_INIT, SEND, ISEND};
    int shape = y->plan.shape, mode = any[rng_below(&y->r, LENGTH(any))];
    if (shape == READY && rng_one_in(&y->r, 2))
        mode = ready[rng_below(&y->r, LENGTH(ready))];
    bool let_go = lets_go(y, m);
    if (shape == PERSISTENT)
        mode = SEND_INIT + (mode == SSEND || mode == SSEND_INIT) +
               3 * (mode == BSEND || mode == IBSEND || mode == BSEND_INIT);
    if (let_go)
        mode = rng_one_in(&y->r, 3) ? ISSEND : ISEND;
    if (!has("persistent") && mode >= SEND_INIT && shape != PERSISTENT)
        mode -= SEND_INIT - ISEND;
    if ((mode == BSEND || mode == IBSEND || mode == BSEND_INIT) &&
        (m->k * m->element->packed > BUFFERED_MAX || thread_count > 1 ||
         !has("buffered")))
        mode -= BSEND - SEND;
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    /* Started again, this host's buffered send sends what it sent before. */
    if (mode == BSEND_INIT)
        mode = SEND_INIT;
#endif
    if ((mode == SSEND || mode == ISSEND || mode == SSEND_INIT) &&
        !has("synchronous"))
        mode -= SSEND - SEND;
    if (mode < BSEND && !may_block)
        mode += ISEND - SEND;
    return mode;
}

static int draw_receive_mode(player_t *y)
{
    static const int any[] = {
        RECV,         RECV,          RECV,          IRECV,         IRECV,
        IRECV,        IRECV,         RECV_INIT,     PROBE_RECV,    IPROBE_RECV,
        MPROBE_MRECV, IMPROBE_MRECV, MPROBE_IMRECV, IMPROBE_IMRECV};
    int shape = y->plan.shape, mode = any[rng_below(&y->r, LENGTH(any))];
    if (!has("probe") && mode >= PROBE_RECV && mode <= IMPROBE_IMRECV)
        mode = RECV;
    if (!has("persistent") && mode == RECV_INIT)
        mode = IRECV;
    if (shape == READY && mode < IRECV)
        mode = IRECV;
    return shape == PERSISTENT ? RECV_INIT : mode;
}

static bool waits(int receive_mode)
{
    return receive_mode < IRECV;
}

static bool i_send(const item_t *m)
{
    return !m->ring && m->circle->as_sender == m->who[0];
}

static bool i_receive(const item_t *m)
{
    return !m->ring && m->circle->as_receiver == m->who[1];
}

static op_t *send_item(player_t *y, int i, bool may_block)
{
    const item_t *m = &y->plan.item[i];
    op_t *o = op_new(y, i, draw_send_mode(y, m, may_block));
    o->let_go = lets_go(y, m);
    o->dest = m->who[1];
    o->tag = m->tag;
    op_sends(y, o, m, 1);
    op_send(y, o);
    return o;
}

static op_t *receive_item(player_t *y, int i, int mode)
{
    const item_t *m = &y->plan.item[i];
    size_t most = m->k;
    if (y->plan.shape == WILD)
        for (int j = 0; j < y->plan.items; j++)
            if (i_receive(&y->plan.item[j]) && y->plan.item[j].k > most)
                most = y->plan.item[j].k;
    op_t *o = op_new(y, i, mode);
    o->source = m->who[0];
    o->tag = m->tag;
    op_receives(y, o, m, 1, most);
    op_opens(y, o, m);
    op_receive(y, o);
    return o;
}

static void exchange_item(player_t *y, int i)
{
    static const int ways[] = {SENDRECV,  SENDRECV, REPLACE,
                               ISENDRECV, IREPLACE, IRECV};
    const item_t *m = &y->plan.item[i];
    int at = 0, me = m->circle->as_sender;
    while (at < m->n && m->who[at] != me)
        at++;
    if (at == m->n)
        return;
    int last = (at + m->n - 1) % m->n, next = (at + 1) % m->n;
    int dest = m->chain && at == m->n - 1 ? MPI_PROC_NULL : m->who[next];
    int source = m->chain && at == 0 ? MPI_PROC_NULL : m->who[last];
    int mode = ways[rng_below(&y->r, LENGTH(ways))];
    bool replaces = mode == REPLACE || mode == IREPLACE;
    if (replaces && !has("replace"))
        mode = SENDRECV;
    if (mode >= ISENDRECV && mode <= IREPLACE && !HAVE_ISENDRECV)
        mode -= ISENDRECV - SENDRECV;
#ifndef OMPI_MAJOR_VERSION
    /* MPICH and its kin put other than dense bytes in the wrong place. */
    if (mode == IREPLACE && !element_dense(m->element))
        mode = ISENDRECV;
#endif
    replaces = mode == REPLACE || mode == IREPLACE;
    op_t *o = op_new(y, i, mode);
    o->dest = dest;
    o->source = source;
    o->tag = m->tag;
    if (replaces)
        op_replaces(y, o, m, next, at);
    else
        op_receives(y, o, m, at, m->k);
    if (source != MPI_PROC_NULL)
        op_opens(y, o, m);
    if (mode == IRECV) { /* by hand */
        op_receive(y, o);
        op_t *s = op_new(y, i, rng_one_in(&y->r, 2) ? SEND : ISEND);
        s->dest = dest;
        s->tag = m->tag;
        op_sends(y, s, m, next);
        op_send(y, s);
    } else {
        if (!replaces)
            op_sends(y, o, m, next);
        op_exchange(y, o);
    }
}

/* The shapes ------------------------------------------------------------- */

static void walk(player_t *y)
{
    plan_t *p = &y->plan;
    int mode[ITEMS_MAX], posted = 0; /* receives posted: [0, posted) */
    for (int i = 0; i < p->items; i++)
        mode[i] = draw_receive_mode(y);
    for (int i = 0; i < p->items; i++) {
        item_t *m = &p->item[i];
        /* Some receives before their turn, but each in the items' order. */
        int ahead = rng_one_in(&y->r, 2) ? i + (int)rng_below(&y->r, 8) : i;
        for (; posted < p->items && posted < ahead; posted++) {
            if (p->item[posted].ring && posted >= i)
                break;
            if (!i_receive(&p->item[posted]) || posted < i)
                continue;
            if (waits(mode[posted]))
                break;
            op_start(y, receive_item(y, posted, mode[posted]));
        }
        if (posted < i)
            posted = i;
        extras_begin(y, i);
        bool receives = i_receive(m) && posted <= i, sent = false;
        if (i_send(m) && receives && waits(mode[i])) {
            op_start(y, send_item(y, i, false)); /* to itself */
            sent = true;
        }
        if (receives)
            op_start(y, receive_item(y, i, mode[i]));
        if (posted <= i)
            posted = i + 1;
        if (i_send(m) && !sent)
            op_start(y, send_item(y, i, true));
        if (m->ring)
            exchange_item(y, i);
        if (rng_one_in(&y->r, 3))
            complete(y, i, false);
    }
}

/* All sends begin, then all receives; those that cannot block, in between. */
static void flock(player_t *y)
{
    plan_t *p = &y->plan;
    int s = 0, r = 0;
    while (s < p->items || r < p->items) {
        bool receive = rng_one_in(&y->r, 2) || s == p->items;
        if (receive && r < p->items) {
            if (i_receive(&p->item[r])) {
                int mode = draw_receive_mode(y);
                if (waits(mode))
                    for (; s < p->items; s++)
                        if (i_send(&p->item[s]))
                            op_start(y, send_item(y, s, false));
                op_start(y, receive_item(y, r, mode));
            }
            extras_begin(y, r);
            r++;
        } else if (s < p->items) {
            if (i_send(&p->item[s]))
                op_start(y, send_item(y, s, false));
            s++;
        }
    }
}

/* Checks the receives from any source, in the order in which the rank posted
 * them: each source's messages have come in their order. */
static void wild_ends(player_t *y)
{
    plan_t *p = &y->plan;
    bool taken[ITEMS_MAX] = {false};
    for (int i = 0; i < y->ops; i++) {
        op_t *o = &y->op[i];
        int j = 0;
        if (!o->receives)
            continue;
        for (; j < p->items; j++)
            if (!taken[j] && i_receive(&p->item[j]) &&
                p->item[j].who[0] == o->status.MPI_SOURCE)
                break;
        CHECK(j < p->items, "one message too many from %d\n  %s",
              o->status.MPI_SOURCE, describe(y, o));
        taken[j] = true;
        o->item = j;
        o->source = p->item[j].who[0];
        o->tag = p->item[j].tag;
        o->in_k = p->item[j].k;
        o->in_key = key2(p->item[j].key, 1);
        op_check(y, o);
    }
}

static void ready(player_t *y)
{
    plan_t *p = &y->plan;
    for (int i = 0; i < p->items; i++) {
        if (i_receive(&p->item[i]))
            op_start(y, receive_item(y, i, draw_receive_mode(y)));
        extras_begin(y, i);
    }
    MPI_Barrier(y->own);
    for (int i = 0; i < p->items; i++)
        if (i_send(&p->item[i]))
            op_start(y, send_item(y, i, true));
}

static void write_log(player_t *y)
{
    if (!y->log)
        return;
    for (int i = 0; i < y->plan.items; i++)
        for (int j = 0; j < y->ops; j++)
            if (y->op[j].item == i && y->op[j].receives)
                fprintf(y->log, "%s\n", y->op[j].record);
}

static void finish(player_t *y)
{
    for (int i = (int)rng_below(&y->ends, 3); i > 0; i--)
        complete(y, y->plan.items, false);
    complete(y, y->plan.items, true);
}

static void repeated(player_t *y)
{
    plan_t *p = &y->plan;
    for (int i = 0; i < p->items; i++) {
        if (i_receive(&p->item[i]))
            receive_item(y, i, RECV_INIT);
        if (i_send(&p->item[i]))
            send_item(y, i, false);
    }
    int made = y->ops, order[OPS_MAX];
    for (int t = 0; t < p->times; t++) {
        for (int i = 0; i < made && t > 0; i++) {
            op_t *o = &y->op[i];
            uint64_t key = key2(p->item[o->item].key, 100u + (uint64_t)t);
            o->out_key = o->in_key = key;
            if (o->sends)
                buffer_refill(&o->out, true, key, o->out_k);
            else
                buffer_refill(&o->in, false, 0, 0);
        }
        shuffle(&y->r, order, made);
        for (int i = 0, n; i < made; i += n) {
            op_t *list[OPS_MAX];
            n = 1 + (int)rng_below(&y->r, (size_t)(made - i));
            for (int k = 0; k < n; k++)
                list[k] = &y->op[order[i + k]];
            ops_start(y, list, n);
        }
        finish(y);
        write_log(y);
    }
}

static void play(player_t *y, long index)
{
    plan_t *p = &y->plan;
    draw_plan(p, seed, y->thread, index, y->circle, y->circles, &y->alone,
              max_bytes, only_shape, has("ring"));
    y->r = rng_from(key2(p->key, 2u + (uint64_t)world_rank));
    y->ends = rng_from(key2(p->key, 1002u + (uint64_t)world_rank));
    y->ops = 0;
    y->rooms[0].used = y->rooms[1].used = 0;
    y->buffered = false;
    if (index < from)
        return;
    if (p->shape == WILD)
        MPI_Barrier(y->own);
    if (p->shape == WALK)
        walk(y);
    else if (p->shape == READY)
        ready(y);
    else if (p->shape == PERSISTENT)
        repeated(y);
    else
        flock(y);
    if (p->shape != PERSISTENT)
        finish(y);
    if (p->shape == WILD)
        wild_ends(y);
    if (y->buffered) { /* until all of it has gone */
        void *at;
        int n;
        MPI_Buffer_detach(&at, &n);
        MPI_Buffer_attach(at, n);
    }
    if (p->fence)
        MPI_Barrier(y->own);
    for (int i = 0; i < y->ops; i++)
        if (y->op[i].sends && !y->op[i].receives && !y->op[i].ended)
            op_check(y, &y->op[i]); /* its request was let go */
    if (p->shape != PERSISTENT)
        write_log(y);
    for (int i = 0; i < y->ops; i++)
        op_drop(&y->op[i]);
}

static void *player(void *argument)
{
    player_t *y = argument;
    char stack_room[ROOM_SIZE];
    y->rooms[0].base = stack_room;
    y->rooms[1].base = static_room[y->thread];
    for (long i = 0; i < from + rounds; i++)
        play(y, i);
    return NULL;
}

/* Communicators ---------------------------------------------------------- */

static circle_t *circle_new(player_t *y, MPI_Comm comm, const char *name)
{
    circle_t *c = &y->circle[y->circles++];
    *c = (circle_t){
        .comm = comm, .name = name, .as_sender = -1, .as_receiver = -1};
    if (comm != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return c;
}

/* Ranks first, first+step ... of the world, n of them. */
static void circle_members(circle_t *c, int first, int n, int step)
{
    c->senders = c->receivers = n;
    for (int i = 0; i < n; i++) {
        int rank = first + i * step;
        c->from[i] = c->to[i] = rank;
        if (rank == world_rank)
            c->as_sender = c->as_receiver = i;
    }
}

/* A new communicator of n ranks of the world. */
static void circle_split(player_t *y, int first, int n, int step,
                         const char *name)
{
    int mine = (world_rank - first) * step;
    bool in = mine >= 0 && mine < n;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, mine, &comm);
    circle_t *c = circle_new(y, comm, name);
    circle_members(c, first, n, step);
    c->mine_to_free = comm != MPI_COMM_NULL;
}

/* The same, of which the other ranks do not hear. */
static void circle_group(player_t *y, int first, int n, int step,
                         const char *name)
{
    int *rank = malloc((size_t)n * sizeof *rank), mine;
    for (int i = 0; i < n; i++)
        rank[i] = first + i * step;
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n, rank, &some);
    MPI_Group_rank(some, &mine);
    MPI_Comm comm = MPI_COMM_NULL;
    if (mine != MPI_UNDEFINED)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 31, &comm);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    free(rank);
    circle_t *c = circle_new(y, comm, name);
    circle_members(c, first, n, step);
    c->mine_to_free = comm != MPI_COMM_NULL;
}

static void player_make(player_t *y, int thread)
{
    int n = world_size, half = n / 2;
    y->thread = thread;
    circle_t *c = circle_new(y, MPI_COMM_WORLD, "the world");
    circle_members(c, 0, n, 1);
    c->crowded = thread_count > 1;
    circle_split(y, 0, n, 1, "all");
    y->own = y->circle[1].comm;
    circle_split(y, n - 1, n, -1, "the reversed");
    int one = thread % n;
    c = circle_new(y, world_rank == one ? MPI_COMM_SELF : MPI_COMM_NULL,
                   "self");
    circle_members(c, one, 1, 1);
    c->crowded = thread_count > n;
    if (n > 1) {
        circle_split(y, 0, half, 1, "the lower half");
        circle_split(y, half, n - half, 1, "the upper half");
        /* Between the halves, one way and the other. */
        bool lower = world_rank < half;
        MPI_Comm side = y->circle[lower ? 4 : 5].comm, between;
        MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, lower ? half : 0, 29,
                             &between);
        for (int way = 0; way < 2; way++) {
            c = circle_new(y, between,
                           way ? "from upper to lower" : "from lower to upper");
            *c = (circle_t){.comm = between,
                            .name = c->name,
                            .between = true,
                            .mine_to_free = way == 0};
            c->senders = way ? n - half : half;
            c->receivers = n - c->senders;
            for (int i = 0; i < c->senders; i++)
                c->from[i] = way ? half + i : i;
            for (int i = 0; i < c->receivers; i++)
                c->to[i] = way ? i : half + i;
            int rank = lower ? world_rank : world_rank - half;
            c->as_sender = lower != way ? rank : -1;
            c->as_receiver = lower != way ? -1 : rank;
        }
        MPI_Comm merged;
        MPI_Intercomm_merge(between, !lower, &merged);
        c = circle_new(y, merged, "the merged");
        circle_members(c, 0, n, 1);
        c->mine_to_free = true;
    }
    if (n > 2) {
        circle_split(y, 0, n - 1, 1, "all but the last");
        circle_split(y, 1, n - 1, 1, "all but the first");
        circle_group(y, n - 2, n - 1, -1, "a group of all but the last");
    }
}

static void player_end(player_t *y)
{
    for (int i = 0; i < y->circles; i++)
        if (y->circle[i].mine_to_free)
            MPI_Comm_free(&y->circle[i].comm);
    if (y->log)
        fclose(y->log);
}

static void open_log(player_t *y, const char *prefix)
{
    char name[4096];
    int n = snprintf(name, sizeof name, "%s.%d", prefix, world_rank);
    if (thread_count > 1)
        snprintf(name + n, sizeof name - (size_t)n, ".%d", y->thread);
    y->log = fopen(name, "w");
    CHECK(y->log, "cannot write %s", name);
}

int main(int argc, char **argv)
{
    const char *log = NULL;
    int provided;
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--threads"))
            thread_count = atoi(argv[i + 1]);
    MPI_Init_thread(&argc, &argv,
                    thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    rounds = argument(argc, argv, 2, 100);
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--trace")) {
            trace = true;
            continue;
        }
        CHECK(i + 1 < argc, "option %s is not known", argv[i]);
        const char *value = argv[++i];
        if (!strcmp(argv[i - 1], "--log"))
            log = value;
        else if (!strcmp(argv[i - 1], "--max"))
            max_bytes = strtoull(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--from"))
            from = strtol(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--without"))
            snprintf(without, sizeof without, "%s", value);
        else if (!strcmp(argv[i - 1], "--shape"))
            for (only_shape = SHAPES - 1; only_shape >= 0; only_shape--) {
                if (!strcmp(shape_names[only_shape], value))
                    break;
            }
        else
            CHECK(!strcmp(argv[i - 1], "--threads"), "option %s is not known",
                  argv[i - 1]);
    }
    CHECK(thread_count >= 1 && thread_count <= THREADS_MAX, "1 to %d threads",
          THREADS_MAX);
    if (thread_count > 1 && provided < MPI_THREAD_MULTIPLE) {
        if (world_rank == 0)
            printf("no MPI_THREAD_MULTIPLE here\n");
        MPI_Finalize();
        return 0;
    }
    CHECK(world_size <= MEMBERS_MAX, "at most %d ranks", MEMBERS_MAX);
    int room = 64 * (BUFFERED_MAX + 4096);
    void *buffered = malloc((size_t)room);
    MPI_Buffer_attach(buffered, room);
    elements_move_only = true;
    elements_make();
    for (int i = 0; i < thread_count; i++) {
        player_make(&players[i], i);
        if (log)
            open_log(&players[i], log);
    }
    pthread_t thread[THREADS_MAX];
    for (int i = 1; i < thread_count; i++)
        pthread_create(&thread[i], NULL, player, &players[i]);
    player(&players[0]);
    for (int i = 1; i < thread_count; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < thread_count; i++)
        player_end(&players[i]);
    elements_free();
    MPI_Buffer_detach(&buffered, &room);
    free(buffered);
    MPI_Finalize();
    if (world_rank == 0)
        printf("seed %llu: %ld rounds of messages right\n",
               (unsigned long long)seed, rounds);
    return 0;
}
