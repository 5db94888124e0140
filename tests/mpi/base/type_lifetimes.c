/*
 * type_lifetimes.c - what becomes of datatypes: freed under way, their
 * handles given to others at once, duplicated, with attributes, by the
 * hundred thousand. Two ranks.
 *
 *   type_lifetimes reuse SEED ROUNDS [THREADS]
 *   type_lifetimes attributes LOG [under_way]
 *   type_lifetimes cycles COUNT
 *   type_lifetimes again COUNT
 *
 * reuse        The program frees types as soon as a call has begun, or has
 *              ended. It then makes others, whose handles are often the same:
 *              Straightway may not take the new type for the old one. With
 *              threads, each does so on a communicator of its own, all at once.
 * attributes   LOG.RANK gets every call of a callback, in order: it must be
 *              the same with and without Straightway. Types are freed after
 *              their messages or, under_way, before.
 * again        One type is sent again and again, both ways, by synchronous
 *              sends: no sender copies aside for a late receiver then.
 * cycles       Types are made, committed, used and freed: the resident memory
 *              at the end is what it was after the first tenth of them, give
 *              or take some bytes a cycle.
 */
#include "types_messages.h"
#include <pthread.h>

#define THREADS_MAX 4
#define TOGETHER 6 /* messages under way */
#define FREED 32   /* handles that are remembered */

/* Reuse -------------------------------------------------------------------- */

typedef struct {
    MPI_Comm comm;
    uint64_t key;
    long rounds, types, again; /* again: with the handle of one freed */
    MPI_Datatype freed[FREED]; /* the last ones */
    long freed_count;
} player_t;

static void let_go(player_t *y, end_t *e)
{
    MPI_Datatype type = e->buffer.made[0].type;
    if (e->buffer.made[0].mine) {
        bool again = false;
        for (int i = 0; i < FREED && i < y->freed_count; i++)
            again = again || type == y->freed[i];
        y->types++;
        y->again += again;
        y->freed[y->freed_count++ % FREED] = type;
    }
    end_let_go(e);
}

/* Both directions of an exchange that both ranks draw. */
static void draw_items(player_t *y, rng_t *plan, long round, int index,
                       item_t *out, item_t *in)
{
    static const int grains[] = {1, 2, 3, 4, 6, 8, 12, 24};
    int other = 1 - world_rank;
    *out = (item_t){
        .comm = y->comm, .tag = 5, .times = 1, .index = index, .round = round};
    out->signature = draw_signature(plan);
    out->grain = grains[rng_below(plan, LENGTH(grains))];
    out->turns = (int)rng_size(plan, 3900) / out->signature.size;
    out->turns = out->turns / out->grain * out->grain;
    if (out->turns == 0)
        out->turns = out->grain = 1;
    out->bytes = (size_t)out->turns * (size_t)out->signature.size;
    uint64_t key = rng_next(plan);
    *in = *out;
    out->from = in->to = world_rank;
    out->to = in->from = other;
    out->key = key2(key, (uint64_t)world_rank);
    in->key = key2(key, (uint64_t)other);
}

/* Several under way whose types are gone. */
static void under_way(player_t *y, rng_t *plan, rng_t *own, long round)
{
    item_t out[TOGETHER], in[TOGETHER];
    end_t *s[TOGETHER], *t[TOGETHER];
    MPI_Request request[2 * TOGETHER];
    int n = 1 + (int)rng_below(plan, TOGETHER);
    for (int i = 0; i < n; i++) {
        draw_items(y, plan, round, i, &out[i], &in[i]);
        t[i] = receiver(own, &in[i]);
        t[i]->mode = IRECV;
        receive_begin(own, t[i]);
        let_go(y, t[i]);
        s[i] = sender(own, &out[i]);
        s[i]->mode = rng_one_in(own, 2) ? ISEND : ISSEND;
        send_begin(s[i]);
        let_go(y, s[i]);
        request[2 * i] = t[i]->request[0];
        request[2 * i + 1] = s[i]->request[0];
    }
    MPI_Status status[2 * TOGETHER];
    right(t[0], MPI_Waitall(2 * n, request, status));
    for (int i = 0; i < n; i++) {
        t[i]->status = status[2 * i];
        end_check(t[i]);
        end_check(s[i]);
        end_drop(t[i]);
        end_drop(s[i]);
    }
}

/* One after the other, each type freed when the message is there. */
static void in_turn(player_t *y, rng_t *plan, rng_t *own, long round)
{
    for (int i = 0; i < TOGETHER; i++) {
        item_t out, in;
        draw_items(y, plan, round, i, &out, &in);
        end_t *t = receiver(own, &in), *s = sender(own, &out);
        t->mode = IRECV;
        receive_begin(own, t);
        s->mode = SEND;
        send_begin(s);
        wait_for(t);
        end_check(t);
        end_check(s);
        let_go(y, t);
        let_go(y, s);
        end_drop(t);
        end_drop(s);
    }
}

/* Persistent requests whose types are gone, started again and again while
 * others come and go. */
static void persistent(player_t *y, rng_t *plan, rng_t *own, long round)
{
    item_t out, in;
    draw_items(y, plan, round, 0, &out, &in);
    end_t *t = receiver(own, &in), *s = sender(own, &out);
    t->mode = RECV_INIT;
    s->mode = SEND_INIT;
    for (int i = 0; i < 3; i++) {
        uint64_t key = (uint64_t)i + rng_next(plan);
        end_again(t, key2(key, (uint64_t)in.from));
        end_again(s, key2(key, (uint64_t)world_rank));
        receive_begin(own, t);
        send_begin(s);
        if (i == 0) {
            let_go(y, t);
            let_go(y, s);
        }
        wait_for(t);
        wait_for(s);
        end_check(t);
        end_check(s);
        in_turn(y, plan, own, round);
    }
    end_delete(t);
    end_delete(s);
}

/* A duplicate outlives what it is of. */
static void duplicated(player_t *y, rng_t *plan, rng_t *own, long round)
{
    item_t out, in;
    draw_items(y, plan, round, 0, &out, &in);
    end_t *e[2] = {receiver(own, &in), sender(own, &out)};
    e[0]->mode = IRECV;
    e[1]->mode = ISEND;
    for (int i = 0; i < 2; i++) {
        typed_t *b = &e[i]->buffer;
        MPI_Datatype *used = b->absolute ? &b->type : &b->made[0].type, old;
        old = *used;
        MPI_Type_dup(old, used);
        if (b->absolute || b->made[0].mine)
            MPI_Type_free(&old);
        b->made[0].mine |= !b->absolute;
        b->type = *used;
        if (i == 0)
            receive_begin(own, e[i]);
        else
            send_begin(e[i]);
        if (rng_one_in(own, 2))
            let_go(y, e[i]);
    }
    for (int i = 0; i < 2; i++) {
        wait_for(e[i]);
        end_check(e[i]);
        end_drop(e[i]);
    }
}

static void *player(void *argument)
{
    player_t *y = argument;
    for (long i = 0; i < y->rounds; i++) {
        rng_t plan = rng_from(key2(y->key, (uint64_t)i));
        rng_t own = rng_from(
            key2(y->key, (uint64_t)(i * 10 + world_rank + 1000000)));
        switch (rng_below(&plan, 4)) {
        case 0: under_way(y, &plan, &own, i); break;
        case 1: in_turn(y, &plan, &own, i); break;
        case 2: persistent(y, &plan, &own, i); break;
        default: duplicated(y, &plan, &own, i);
        }
    }
    return NULL;
}

static void reuse(long rounds, int threads)
{
    static player_t players[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    long types = 0, again = 0;
    basics_make(true);
    for (int i = 0; i < threads; i++) {
        player_t *y = &players[i];
        *y = (player_t){.key = key2(seed, (uint64_t)i),
                        .rounds = rounds,
                        .freed = MPI_DATATYPE_NULL};
        MPI_Comm_dup(MPI_COMM_WORLD, &y->comm);
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, player, &players[i]);
    player(&players[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(thread[i], NULL);
        types += players[i].types;
        again += players[i].again;
        MPI_Comm_free(&players[i].comm);
    }
    /* Else nothing has been proven. */
    CHECK(rounds < 20 || again > types / 100,
          "only %ld of %ld handles come "
          "again",
          again, types);
}

/* Attributes --------------------------------------------------------------- */

#define KEYS 5
static FILE *report;
static bool refuse;     /* callbacks return an error */
static bool early_free; /* types go while under way */

static int copy(MPI_Datatype from, int key, void *extra, void *value, void *to,
                int *flag)
{
    (void)from;
    (void)key;
    fprintf(report, "copy of %s's %s\n", (char *)extra, (char *)value);
    *(void **)to = value;
    *flag = strcmp(extra, "stays") != 0;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int drop(MPI_Datatype from, int key, void *value, void *extra)
{
    (void)from;
    (void)key;
    fprintf(report, "delete of %s's %s\n", (char *)extra, (char *)value);
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A message large enough to be Straightway's; and the type may go. */
static void use(MPI_Datatype type, bool free_it, MPI_Datatype *handle)
{
    enum { ITEMS = 400 };
    static int out[8 * ITEMS], in[8 * ITEMS];
    MPI_Request request[2];
    MPI_Status status[2];
    int other = 1 - world_rank, count = 0;
    for (int i = 0; i < 8 * ITEMS; i++) {
        out[i] = i + world_rank;
        in[i] = -1;
    }
    MPI_Irecv(in, ITEMS, type, other, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, ITEMS, type, other, 3, MPI_COMM_WORLD, &request[1]);
    bool early = free_it && early_free;
    if (early)
        MPI_Type_free(handle);
    MPI_Waitall(2, request, status);
    if (!early)
        MPI_Get_count(&status[0], type, &count);
    CHECK(early || count == ITEMS, "%d items", count);
    /* Two numbers of every eight. */
    for (int i = 0; i < 8 * ITEMS; i++)
        CHECK(in[i] == (i % 8 < 2 ? i + other : -1), "%d at %d", in[i], i);
    MPI_Bcast(in, ITEMS, early ? MPI_INT : type, 0, MPI_COMM_WORLD);
    if (free_it && !early)
        MPI_Type_free(handle);
    fprintf(report, "used%s\n", free_it ? " and freed" : "");
}

static MPI_Datatype two_of_eight(void)
{
    MPI_Datatype two, type;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 8 * sizeof(int), &type);
    MPI_Type_free(&two);
    MPI_Type_commit(&type);
    return type;
}

static void attributes(const char *prefix)
{
    static char *const names[KEYS] = {"first", "unshared", "shared", "stays",
                                      "last"};
    char name[4096];
    int key[KEYS], found;
    void *value;
    MPI_Datatype type, dup[3];
    snprintf(name, sizeof name, "%s.%d", prefix, world_rank);
    report = fopen(name, "w");
    CHECK(report, "cannot write %s", name);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < KEYS; i++)
        MPI_Type_create_keyval(i == 1   ? MPI_TYPE_NULL_COPY_FN
                               : i == 2 ? MPI_TYPE_DUP_FN
                                        : copy,
                               drop, &key[i], names[i]);
    type = two_of_eight();
    for (int i = 0; i < KEYS; i++)
        MPI_Type_set_attr(type, key[i], "value");
    use(type, false, NULL);
    fprintf(report, "set again\n");
    MPI_Type_set_attr(type, key[0], "other value");
    use(type, false, NULL);
    for (int i = 0; i < 3; i++) {
        fprintf(report, "duplicate\n");
        MPI_Type_dup(i ? dup[i - 1] : type, &dup[i]);
        use(dup[i], false, NULL);
        for (int k = 0; k < KEYS; k++) {
            MPI_Type_get_attr(dup[i], key[k], &value, &found);
            fprintf(report, "%s: %s\n", names[k],
                    found ? (char *)value : "none");
        }
    }
    fprintf(report, "delete one\n");
    MPI_Type_delete_attr(dup[0], key[4]);
    use(dup[0], false, NULL);
    fprintf(report, "free the first\n");
    use(type, true, &type);
    fprintf(report, "free a duplicate\n");
    use(dup[1], true, &dup[1]);
    use(dup[0], false, NULL);

    /* A copy that is refused makes no duplicate. */
    MPI_Datatype none = MPI_DATATYPE_NULL;
    refuse = true;
    int rc = MPI_Type_dup(dup[0], &none);
    refuse = false;
    fprintf(report, "refused: %s\n", rc ? "an error" : "none");
    if (!rc && none != MPI_DATATYPE_NULL)
        MPI_Type_free(&none);
    use(dup[0], false, NULL);

    fprintf(report, "free the keys, then what has them\n");
    for (int i = 0; i < KEYS; i++)
        MPI_Type_free_keyval(&key[i]);
    use(dup[2], true, &dup[2]);
    use(dup[0], true, &dup[0]);

    /* Handles and keys that come again have nothing of the old ones'. */
    for (int i = 0; i < 200; i++) {
        int again;
        MPI_Type_create_keyval(copy, drop, &again, "again");
        type = two_of_eight();
        MPI_Type_get_attr(type, again, &value, &found);
        CHECK(!found, "a new type has an attribute");
        MPI_Type_set_attr(type, again, "value");
        use(type, false, NULL);
        MPI_Type_dup(type, &dup[0]);
        use(dup[0], true, &dup[0]);
        use(type, i % 2, &type);
        if (i % 2 == 0)
            MPI_Type_free(&type);
        MPI_Type_free_keyval(&again);
    }
    fclose(report);
}

/* Cycles ------------------------------------------------------------------- */

/* Bytes of a leak, a cycle, that must be seen; and that chance may make of
 * the allocator's own affairs. */
#define LEAK 100
#define CHANCE 60

static long resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%*d %ld", &pages) == 1, "no /proc/self/statm");
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static void cycles(long count)
{
    enum { ITEMS = 64, INTS = 32 }; /* half of it holds a vector */
    static int out[ITEMS * INTS], in[ITEMS * INTS];
    long before = 0, warm = count / 10;
    int other = 1 - world_rank;
    for (long i = 0; i < count; i++) {
        MPI_Datatype vector, wide, both, type;
        if (i == warm)
            before = resident();
        MPI_Type_vector(1 + (int)(i % 3), 2, 4, MPI_INT, &vector);
        MPI_Type_create_resized(vector, 0, INTS / 2 * sizeof(int), &wide);
        MPI_Type_create_struct(2, (int[]){1, 1},
                               (MPI_Aint[]){0, INTS / 2 * sizeof(int)},
                               (MPI_Datatype[]){wide, vector}, &both);
        if (i % 5) {
            MPI_Type_create_resized(both, 0, INTS * sizeof(int), &type);
        } else {
            MPI_Datatype right;
            MPI_Type_create_resized(both, 0, INTS * sizeof(int), &right);
            MPI_Type_dup(right, &type);
            MPI_Type_free(&right);
        }
        MPI_Type_free(&vector);
        MPI_Type_free(&wide);
        MPI_Type_free(&both);
        MPI_Type_commit(&type);
        /* One number of an item, where its second half begins. */
        int at = (int)(i % ITEMS) * INTS + INTS / 2;
        out[at] = (int)i;
        in[at] = -1;
        if (i % 8) {
            MPI_Sendrecv(out, ITEMS, type, 0, 1, in, ITEMS, type, 0, 1,
                         MPI_COMM_SELF, MPI_STATUS_IGNORE);
        } else if (i % 16) {
            MPI_Sendrecv(out, ITEMS, type, other, 1, in, ITEMS, type, other, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Request request[2];
            MPI_Irecv(in, ITEMS, type, other, 1, MPI_COMM_WORLD, &request[0]);
            MPI_Isend(out, ITEMS, type, other, 1, MPI_COMM_WORLD, &request[1]);
            MPI_Type_free(&type);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        }
        CHECK(in[at] == i, "%d in cycle %ld", in[at], i);
        if (type != MPI_DATATYPE_NULL)
            MPI_Type_free(&type);
    }
    long grown = resident() - before;
    CHECK(grown < CHANCE * (count - warm), "%ld bytes more after %ld cycles",
          grown, count - warm);
    _Static_assert(CHANCE < LEAK, "a leak must be seen");
    fprintf(stderr, "rank %d: %ld bytes more after %ld cycles\n", world_rank,
            grown, count - warm);
}

/* Again -------------------------------------------------------------------- */

static void again(long count)
{
    enum { ROWS = 500, LONG = 32, STEP = 40 };
    static double out[ROWS * STEP], in[ROWS * STEP];
    int other = 1 - world_rank;
    MPI_Datatype type;
    MPI_Type_vector(ROWS, LONG, STEP, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (long i = 0; i < count; i++) {
        for (int k = 0; k < ROWS * STEP; k++)
            out[k] = (double)(k + i + world_rank);
        MPI_Request request;
        MPI_Irecv(in, 1, type, other, 1, MPI_COMM_WORLD, &request);
        MPI_Ssend(out, 1, type, other, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 0; k < ROWS * STEP; k++)
            CHECK(in[k] == (k % STEP < LONG ? (double)(k + i + other) : 0),
                  "number %d of message %ld", k, i);
    }
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int threads = (int)argument(argc, argv, 4, 1), provided;
    MPI_Init_thread(&argc, &argv,
                    threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    CHECK(world_size == 2, "two ranks are needed");
    if (threads > 1 && provided < MPI_THREAD_MULTIPLE) {
        if (world_rank == 0)
            printf("no MPI_THREAD_MULTIPLE here\n");
        MPI_Finalize();
        return 0;
    }
    me = world_rank;
    if (!strcmp(what, "reuse")) {
        CHECK(threads >= 1 && threads <= THREADS_MAX, "1 to %d threads",
              THREADS_MAX);
        seed = (uint64_t)argument(argc, argv, 2, 1);
        reuse(argument(argc, argv, 3, 100), threads);
    } else if (!strcmp(what, "attributes") && argc > 2) {
        early_free = argc > 3 && !strcmp(argv[3], "under_way");
        attributes(argv[2]);
    } else if (!strcmp(what, "again")) {
        again(argument(argc, argv, 2, 10));
    } else if (!strcmp(what, "cycles")) {
        cycles(argument(argc, argv, 2, 100000));
    } else {
        fail("not known: %s", what);
    }
    test_end();
    return 0;
}
