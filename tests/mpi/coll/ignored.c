/*
 * ignored.c - arguments that MPI ignores may be anything.
 *
 *   ignored [between]
 *
 * Where an argument is significant at the root alone, the other members pass an
 * unreadable address, no datatype and a negative count. Fortran programs do the
 * like: they pass an array of one element there. So does the root with what
 * MPI_IN_PLACE stands for, and so does a member without neighbours. `between`
 * groups, a member without a part in the call does it, too. The program makes
 * each call in every form, and starts a persistent one twice.
 */
#include "mpi/test.h"

#define EACH 3

static void *const poison = (void *)8;
static int *const counts_nowhere = (int *)8;
static MPI_Datatype *const types_nowhere = (MPI_Datatype *)8;

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form_t;

/* One call, in the form at hand. INIT's arguments end with an info. */
#if HAVE_PERSISTENT
#define INIT(CALL) CALL
#else
#define INIT(CALL) (void)0
#endif
#define CALL(FORM, NAME, INAME, ...)                                       \
    do {                                                                   \
        if ((FORM) == BLOCKING) {                                          \
            MPI_##NAME(__VA_ARGS__);                                       \
        } else if ((FORM) == NONBLOCKING) {                                \
            MPI_##INAME(__VA_ARGS__, &request);                            \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                         \
        } else {                                                           \
            INIT(MPI_##NAME##_init(__VA_ARGS__, MPI_INFO_NULL, &request)); \
            twice();                                                       \
        }                                                                  \
    } while (0)

static MPI_Request request;
static int *all, *got, *counts, *places, own[EACH];

static void __attribute__((unused)) twice(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

/* Element i of member m's block. */
static int element(int m, int i)
{
    return 100 * (m + 1) + i;
}

static void fill(int n, int me)
{
    for (int m = 0; m < n; m++)
        for (int i = 0; i < EACH; i++) {
            all[m * EACH + i] = element(m, i);
            got[m * EACH + i] = -1;
        }
    for (int i = 0; i < EACH; i++)
        own[i] = element(me, i);
    for (int m = 0; m < n; m++) {
        counts[m] = EACH;
        places[m] = m * EACH;
    }
}

static void has(const int *at, int from, int n, const char *what, form_t form)
{
    for (int i = 0; i < n * EACH; i++)
        CHECK(at[i] == element(from + i / EACH, i % EACH),
              "%s, form %d: element %d is %d", what, (int)form, i, at[i]);
}

/* Among the members of one group. `in_place`: the root's block is. */
static void rooted(form_t form, int root, bool in_place)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    bool here = world_rank == root, place = here && in_place;
    int n = world_size, few = -1;
    MPI_Datatype none = MPI_DATATYPE_NULL, some = MPI_INT;

    fill(n, world_rank);
    if (place)
        memcpy(got + root * EACH, own, sizeof own);
    CALL(form, Gather, Igather, place ? MPI_IN_PLACE : own, place ? few : EACH,
         place ? none : some, here ? got : poison, here ? EACH : few,
         here ? some : none, root, comm);
    if (here)
        has(got, 0, n, "gather", form);
    fill(n, world_rank);
    if (place)
        memcpy(got + root * EACH, own, sizeof own);
    CALL(form, Gatherv, Igatherv, place ? MPI_IN_PLACE : own,
         place ? few : EACH, place ? none : some, here ? got : poison,
         here ? counts : counts_nowhere, here ? places : counts_nowhere,
         here ? some : none, root, comm);
    if (here)
        has(got, 0, n, "gatherv", form);
    fill(n, world_rank);
    CALL(form, Scatter, Iscatter, here ? all : poison, here ? EACH : few,
         here ? some : none, place ? MPI_IN_PLACE : got, place ? few : EACH,
         place ? none : some, root, comm);
    if (!place)
        has(got, world_rank, 1, "scatter", form);
    fill(n, world_rank);
    CALL(form, Scatterv, Iscatterv, here ? all : poison,
         here ? counts : counts_nowhere, here ? places : counts_nowhere,
         here ? some : none, place ? MPI_IN_PLACE : got, place ? few : EACH,
         place ? none : some, root, comm);
    if (!place)
        has(got, world_rank, 1, "scatterv", form);
    fill(n, root);
    CALL(form, Reduce, Ireduce, place ? MPI_IN_PLACE : own,
         here ? place ? own : got : poison, EACH, some, MPI_MAX, root, comm);
    if (here)
        has(place ? own : got, root, 1, "reduce", form);
}

/* All give and take, in place. */
static void in_place(form_t form)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int n = world_size, few = -1;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Datatype *types = malloc((size_t)n * sizeof *types);
    int *bytes = malloc((size_t)n * sizeof *bytes);

    for (int m = 0; m < n; m++) {
        types[m] = MPI_INT;
        bytes[m] = m * EACH * (int)sizeof(int);
    }
    fill(n, world_rank);
    memcpy(got + world_rank * EACH, own, sizeof own);
    CALL(form, Allgather, Iallgather, MPI_IN_PLACE, few, none, got, EACH,
         MPI_INT, comm);
    has(got, 0, n, "allgather", form);
    fill(n, world_rank);
    memcpy(got + world_rank * EACH, own, sizeof own);
    CALL(form, Allgatherv, Iallgatherv, MPI_IN_PLACE, few, none, got, counts,
         places, MPI_INT, comm);
    has(got, 0, n, "allgatherv", form);
    if (form != PERSISTENT) /* it would change them twice */
        for (int m = 0; m < n; m++)
            for (int i = 0; i < EACH; i++)
                got[m * EACH + i] = own[i];
    CALL(form, Alltoall, Ialltoall, MPI_IN_PLACE, few, none, got, EACH, MPI_INT,
         comm);
    has(got, 0, n, "alltoall", form);
    if (form != PERSISTENT)
        for (int m = 0; m < n; m++)
            for (int i = 0; i < EACH; i++)
                got[m * EACH + i] = own[i];
    CALL(form, Alltoallv, Ialltoallv, MPI_IN_PLACE, counts_nowhere,
         counts_nowhere, none, got, counts, places, MPI_INT, comm);
    has(got, 0, n, "alltoallv", form);
    if (form != PERSISTENT)
        for (int m = 0; m < n; m++)
            for (int i = 0; i < EACH; i++)
                got[m * EACH + i] = own[i];
    CALL(form, Alltoallw, Ialltoallw, MPI_IN_PLACE, counts_nowhere,
         counts_nowhere, types_nowhere, got, counts, bytes, types, comm);
    has(got, 0, n, "alltoallw", form);
    free(types);
    free(bytes);
}

/* Rank 0 has no rank to receive from, the last one no rank to send to. */
static void near_ends(form_t form)
{
    MPI_Comm line;
    int before = world_rank - 1, after = world_rank + 1;
    int ins = world_rank > 0, outs = after < world_size;
    int count = EACH, place = 0, *from = ins ? &count : counts_nowhere;
    int *to = outs ? &count : counts_nowhere;
    MPI_Aint byte = 0, *far = (MPI_Aint *)8;
    MPI_Datatype type = MPI_INT;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, &before, MPI_UNWEIGHTED,
                                   outs, &after, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &line);
    fill(world_size, world_rank);
    CALL(form, Neighbor_alltoallv, Ineighbor_alltoallv, outs ? own : poison, to,
         outs ? &place : to, MPI_INT, ins ? got : poison, from,
         ins ? &place : from, MPI_INT, line);
    if (ins)
        has(got, before, 1, "neighbor_alltoallv", form);
    fill(world_size, world_rank);
    CALL(form, Neighbor_alltoallw, Ineighbor_alltoallw, outs ? own : poison, to,
         outs ? &byte : far, outs ? &type : types_nowhere, ins ? got : poison,
         from, ins ? &byte : far, ins ? &type : types_nowhere, line);
    if (ins)
        has(got, before, 1, "neighbor_alltoallw", form);
    fill(world_size, world_rank);
    CALL(form, Neighbor_allgatherv, Ineighbor_allgatherv, own, EACH, MPI_INT,
         ins ? got : poison, from, ins ? &place : from, MPI_INT, line);
    if (ins)
        has(got, before, 1, "neighbor_allgatherv", form);
    MPI_Comm_free(&line);
}

/* Rank 0 is the root of its group, which the last ranks share as idle members;
 * those between are the other group. */
static void between(form_t form)
{
    MPI_Comm own_group, both;
    bool here = world_rank == 0;
    bool ours = here || world_rank == world_size - 1, idle = ours && !here;
    int root = here ? MPI_ROOT : ours ? MPI_PROC_NULL : 0;
    int n = ours ? 0 : world_size - 2, few = -1;
    MPI_Datatype none = MPI_DATATYPE_NULL, some = MPI_INT;

    MPI_Comm_split(MPI_COMM_WORLD, ours, world_rank, &own_group);
    MPI_Intercomm_create(own_group, 0, MPI_COMM_WORLD, ours ? 1 : 0, 0, &both);
    n = world_size - 2;
    fill(world_size, ours ? 0 : world_rank - 1);
    CALL(form, Gather, Igather, ours ? poison : own, ours ? few : EACH,
         ours ? none : some, here ? got : poison, here ? EACH : few,
         here ? some : none, root, both);
    if (here)
        has(got, 0, n, "gather between groups", form);
    fill(world_size, ours ? 0 : world_rank - 1);
    CALL(form, Gatherv, Igatherv, ours ? poison : own, ours ? few : EACH,
         ours ? none : some, here ? got : poison,
         here ? counts : counts_nowhere, here ? places : counts_nowhere,
         here ? some : none, root, both);
    if (here)
        has(got, 0, n, "gatherv between groups", form);
    fill(world_size, 0);
    CALL(form, Scatter, Iscatter, here ? all : poison, here ? EACH : few,
         here ? some : none, ours ? poison : got, ours ? few : EACH,
         ours ? none : some, root, both);
    if (!ours)
        has(got, world_rank - 1, 1, "scatter between groups", form);
    fill(world_size, 0);
    CALL(form, Scatterv, Iscatterv, here ? all : poison,
         here ? counts : counts_nowhere, here ? places : counts_nowhere,
         here ? some : none, ours ? poison : got, ours ? few : EACH,
         ours ? none : some, root, both);
    if (!ours)
        has(got, world_rank - 1, 1, "scatterv between groups", form);
    fill(world_size, 0);
    CALL(form, Bcast, Ibcast,
         idle   ? poison
         : here ? all
                : got,
         EACH, some, root, both); /* MPICH looks at these */
    if (!ours)
        has(got, 0, 1, "bcast between groups", form);
    fill(world_size, 0);
    CALL(form, Reduce, Ireduce, ours ? poison : own, here ? got : poison, EACH,
         some, MPI_MAX, root, both);
    if (here)
        has(got, 0, 1, "reduce between groups", form);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own_group);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    bool groups = argc > 1 && !strcmp(argv[1], "between");
    size_t elements = (size_t)world_size * EACH;
    all = malloc(elements * sizeof *all);
    got = malloc(elements * sizeof *got);
    counts = malloc((size_t)world_size * sizeof *counts);
    places = malloc((size_t)world_size * sizeof *places);
    for (form_t form = BLOCKING; form < FORMS; form++) {
        if (form == PERSISTENT && !HAVE_PERSISTENT)
            continue;
        if (groups) {
            between(form);
            continue;
        }
        for (int root = 0; root < world_size; root++)
            for (int place = 0; place < 2; place++)
                rooted(form, root, place);
        in_place(form);
        near_ends(form);
    }
    free(all);
    free(got);
    free(counts);
    free(places);
    test_end();
    return 0;
}
