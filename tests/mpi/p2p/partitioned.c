/*
 * partitioned.c - random partitioned messages: partitioned [seed [rounds]].
 *
 * All ranks draw the same plan. Both sides have partitions of their own, and
 * datatypes with gaps or without. Partitions become ready in any order, and
 * receivers look for any. The program prints what went wrong, or "all is well".
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 12
#define COMMS 3

static int me, ranks, wrong;
static uint64_t common_state, own_state;
static MPI_Comm comms[COMMS];

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static int below(uint64_t *state, int n)
{
    return (int)(draw(state) % (uint32_t)n);
}

typedef struct {
    int comm, from, to, tag; /* ranks in that communicator */
    int parts[2], count[2];  /* of the sender, of the receiver */
    int gaps[2];
    int mine; /* 0: this rank sends; 1: receives; -1 */
    MPI_Datatype type;
    int *buffer;
    MPI_Request request;
    int done;
} message_t;

static message_t all[MOST];

static int value(int round, int message, int start, int element)
{
    return ((round * 31 + message) * 17 + start) * 1000003 + element;
}

/* With gaps an element is an int in every other place. */
static int *place(const message_t *m, int element)
{
    return m->buffer + (m->gaps[m->mine] ? 2 * element : element);
}

static int elements(const message_t *m)
{
    return m->parts[0] * m->count[0];
}

static void plan(message_t *m)
{
    int rank, size, total, parts;
    static const int sizes[] = {1, 5, 300, 9000, 40000};
    uint64_t *s = &common_state;
    m->comm = below(s, COMMS);
    m->from = below(s, ranks);
    m->to = (m->from + 1 + below(s, ranks - 1)) % ranks;
    m->tag = below(s, 3);
    m->parts[0] = 1 + below(s, below(s, 5) ? 17 : 200);
    m->count[0] = 1 + below(s, sizes[below(s, 5)] / m->parts[0] + 1);
    total = elements(m);
    parts = 1 + below(s, 20);
    while (total % parts)
        parts--;
    m->parts[1] = parts;
    m->count[1] = total / parts;
    m->gaps[0] = !below(s, 3);
    m->gaps[1] = !below(s, 3);
    MPI_Comm_rank(comms[m->comm], &rank);
    MPI_Comm_size(comms[m->comm], &size);
    m->mine = rank == m->from ? 0 : rank == m->to ? 1 : -1;
}

static void initialize(message_t *m)
{
    static int fixed[MOST][4096];
    MPI_Datatype pair;
    size_t bytes = sizeof(int) * (size_t)elements(m) * 2;
    if (m->mine < 0)
        return;
    m->type = MPI_INT;
    if (m->gaps[m->mine]) {
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &m->type);
        pair = m->type;
        MPI_Type_commit(&pair);
        m->type = pair;
    }
    m->buffer = bytes <= sizeof fixed[0] && below(&own_state, 2)
                    ? fixed[m - all]
                    : malloc(bytes);
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        m->buffer[i] = -1;
    if (m->mine == 0)
        MPI_Psend_init(m->buffer, m->parts[0], m->count[0], m->type, m->to,
                       m->tag, comms[m->comm], MPI_INFO_NULL, &m->request);
    else
        MPI_Precv_init(m->buffer, m->parts[1], m->count[1], m->type, m->from,
                       m->tag, comms[m->comm], MPI_INFO_NULL, &m->request);
    if (m->type != MPI_INT && below(&own_state, 2))
        MPI_Type_free(&m->type); /* the request keeps it */
    if (m->buffer == fixed[m - all])
        m->done = 2; /* for the end: not to be freed */
}

static void get_ready(message_t *m, int round, int index, int start)
{
    int n = m->parts[0], order[256], at = 0;
    for (int i = 0; i < n; i++)
        order[i] = i;
    if (below(&own_state, 4) == 0) {
        for (int e = 0; e < elements(m); e++)
            *place(m, e) = value(round, index, start, e);
        int middle = below(&own_state, n);
        MPI_Pready_range(middle, n - 1, m->request);
        if (middle)
            MPI_Pready_list(middle, order, m->request);
        return;
    }
    for (int i = n - 1; i > 0; i--) {
        int k = below(&own_state, i + 1), x = order[i];
        order[i] = order[k];
        order[k] = x;
    }
    for (; at < n; at++) {
        int first = order[at] * m->count[0];
        for (int e = first; e < first + m->count[0]; e++)
            *place(m, e) = value(round, index, start, e);
        MPI_Pready(order[at], m->request);
    }
}

static void check(const message_t *m, int round, int index, int start,
                  int first, int count, const char *when)
{
    for (int e = first; e < first + count; e++)
        if (*place(m, e) != value(round, index, start, e)) {
            printf("rank %d, round %d, start %d, message %d, element %d of "
                   "%d: wrong %s\n",
                   me, round, start, index, e, elements(m), when);
            wrong = 1;
            return;
        }
    for (int e = first; m->gaps[1] && e < first + count; e++)
        if (place(m, e)[1] != -1) {
            printf("rank %d: a gap was written\n", me);
            wrong = 1;
            return;
        }
}

static void check_status(const message_t *m, const MPI_Status *s)
{
    MPI_Count bytes = -1;
    int cancelled = 1;
    MPI_Get_elements_x(s, MPI_BYTE, &bytes);
    MPI_Test_cancelled(s, &cancelled);
    if (m->mine == 1 && (s->MPI_SOURCE != m->from || s->MPI_TAG != m->tag)) {
        printf("rank %d: a status says source %d, tag %d\n", me, s->MPI_SOURCE,
               s->MPI_TAG);
        wrong = 1;
    }
    if (m->mine == 1 && bytes != (MPI_Count)sizeof(int) * elements(m)) {
        printf("rank %d: a status says %lld bytes\n", me, (long long)bytes);
        wrong = 1;
    }
    if (cancelled) {
        printf("rank %d: a message was cancelled\n", me);
        wrong = 1;
    }
}

static void look(message_t *m, int round, int index, int start)
{
    int part = below(&own_state, m->parts[1]), flag = 0;
    MPI_Parrived(m->request, part, &flag);
    if (flag)
        check(m, round, index, start, part * m->count[1], m->count[1],
              "when it arrived");
}

/* Completes a few in some way, until all are complete. */
static void complete(int n, int round, int start)
{
    for (int left = n; left;) {
        int flag = 0, how = below(&own_state, 3), index = MPI_UNDEFINED;
        MPI_Status status;
        MPI_Request request[MOST];
        int at[MOST], count = 0;
        for (int i = 0; i < n; i++)
            if (all[i].mine >= 0 && !(all[i].done & 1)) {
                at[count] = i;
                request[count++] = all[i].request;
            }
        if (!count)
            return;
        for (int i = 0; i < count; i++)
            if (all[at[i]].mine == 1)
                look(&all[at[i]], round, at[i], start);
        if (how == 0) {
            index = below(&own_state, count);
            MPI_Test(&request[index], &flag, &status);
        } else if (how == 1) {
            MPI_Testany(count, request, &index, &flag, &status);
        } else {
            MPI_Waitany(count, request, &index, &status);
            flag = 1;
        }
        if (!flag)
            continue;
        message_t *m = &all[at[index]];
        check_status(m, &status);
        if (m->mine == 1) {
            check(m, round, at[index], start, 0, elements(m), "at the end");
            for (int e = 0; e < elements(m); e++)
                *place(m, e) = -1;
            MPI_Parrived(m->request, 0, &flag);
            if (!flag) {
                printf("rank %d: an inactive request has not arrived\n", me);
                wrong = 1;
            }
        }
        m->done |= 1;
        left--;
    }
}

static void one_round(int round)
{
    int n = 1 + below(&common_state, MOST), starts;
    for (int i = 0; i < n; i++) {
        memset(&all[i], 0, sizeof all[i]);
        plan(&all[i]);
    }
    for (int i = 0; i < n; i++)
        initialize(&all[i]);
    starts = 1 + below(&common_state, 4);
    for (int start = 0; start < starts; start++) {
        for (int i = 0; i < n; i++)
            if (all[i].mine >= 0) {
                all[i].done &= ~1;
                MPI_Start(&all[i].request);
            }
        for (int i = 0; i < n; i++)
            if (all[i].mine == 0)
                get_ready(&all[i], round, i, start);
            else if (all[i].mine == 1 && below(&own_state, 2))
                look(&all[i], round, i, start);
        complete(n, round, start);
    }
    for (int i = 0; i < n; i++)
        if (all[i].mine >= 0) {
            MPI_Request_free(&all[i].request);
            if (!(all[i].done & 2))
                free(all[i].buffer);
            if (all[i].type != MPI_INT && all[i].type != MPI_DATATYPE_NULL)
                MPI_Type_free(&all[i].type);
        }
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 30, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    common_state = (uint64_t)seed;
    own_state = (uint64_t)seed * 1000 + (uint64_t)me;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[2]);
    for (int round = 0; round < rounds; round++)
        one_round(round);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (me == 0 && !any)
        printf("all is well\n");
    MPI_Finalize();
    return any;
}
