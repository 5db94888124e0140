/*
 * refused.c - a call that the host has refused at one member leaves no trace in
 * communicators that come later.
 *
 *   refused HANDLER
 *
 * The members of a communicator find each other by its name. So after each
 * refusal they make communicators in every way, and use each for a nonblocking
 * collective, and for messages whose length a probe tells. Callbacks of an
 * attribute make communicators of the same parent in the midst of a call. On
 * threads, members make some of different parents at once. HANDLER is
 * "return", or "user": a handler of the program's, after which some MPIs let
 * the refused call return MPI_SUCCESS.
 */
#include "mpi/test.h"
#include <pthread.h>

#define LONG 100000 /* bytes of a message */

static int handled;
static bool user;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* MPICH takes a negative length of a grid, and waits for the others. */
#ifdef OMPI_MAJOR_VERSION
#define WRONG_LENGTH -5
#else
#define WRONG_LENGTH 1000
#endif

/* Each is refused before it asks any other member. */
static void refuse(int kind, MPI_Comm comm)
{
    MPI_Comm made = comm;
    MPI_Group none = MPI_GROUP_NULL;
    int five = WRONG_LENGTH, zero = 0, index[1000] = {0}, edges[1] = {0};
    int result = MPI_SUCCESS, before = handled;
    switch (kind) {
    case 0: result = MPI_Cart_create(comm, 1, &five, &zero, 0, &made); break;
    case 1: result = MPI_Cart_create(comm, -1, &five, &zero, 0, &made); break;
    case 2:
        result = MPI_Graph_create(comm, 1000, index, edges, 0, &made);
        break;
    case 3: result = MPI_Comm_create(comm, none, &made); break;
    case 4: result = MPI_Cart_sub(comm, &zero, &made); break;
    case 5:
        result = MPI_Dist_graph_create_adjacent(comm, -1, &zero, MPI_UNWEIGHTED,
                                                0, &zero, MPI_UNWEIGHTED,
                                                MPI_INFO_NULL, 0, &made);
        break;
    }
    CHECK(user ? handled > before : result != MPI_SUCCESS, "call %d is taken",
          kind);
}

#define REFUSALS 6

/* The members of `comm` find each other. */
static void use(MPI_Comm comm, int key)
{
    static __thread char out[LONG], in[LONG];
    MPI_Request requests[2];
    MPI_Status status;
    int n, me, sum = 0, one = key + 1, count;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    int to = (me + 1) % n, from = (me + n - 1) % n;
    MPI_Ibarrier(comm, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == n * one, "the sum is %d, not %d", sum, n * one);
    fill_from(out, LONG, key2((uint64_t)key, (uint64_t)me));
    MPI_Isend(out, LONG, MPI_BYTE, to, 3, comm, requests);
    MPI_Probe(from, 3, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == LONG, "a probe tells %d bytes", count);
    MPI_Recv(in, LONG, MPI_BYTE, from, 3, comm, MPI_STATUS_IGNORE);
    CHECK(wrong_from(in, LONG, key2((uint64_t)key, (uint64_t)from)) == LONG,
          "a message is wrong");
    MPI_Wait(requests, MPI_STATUS_IGNORE);
}

static void use_and_free(MPI_Comm comm, int key)
{
    if (comm == MPI_COMM_NULL)
        return;
    use(comm, key);
    MPI_Comm_free(&comm);
}

static void make_all(MPI_Comm parent, int key)
{
    MPI_Comm made, again;
    MPI_Group all, most;
    int n, me, zero = 0, ranks[3] = {0, 0, 1}, keep = 1;
    MPI_Comm_size(parent, &n);
    MPI_Comm_rank(parent, &me);
    MPI_Comm_dup(parent, &made);
    MPI_Comm_dup(made, &again);
    use_and_free(again, key);
    use_and_free(made, key + 1);
    MPI_Comm_split(parent, me == 0, -me, &made);
    use_and_free(made, key + 2);
    MPI_Cart_create(parent, 1, &n, &zero, 1, &made);
    MPI_Cart_sub(made, &keep, &again);
    use_and_free(again, key + 3);
    use_and_free(made, key + 4);
    MPI_Comm_group(parent, &all);
    ranks[1] = n - 1;
    MPI_Group_range_incl(all, 1, &ranks, &most);
    MPI_Comm_create(parent, most, &made);
    use_and_free(made, key + 5);
    MPI_Comm_create_group(parent, most, 9, &made);
    use_and_free(made, key + 6);
    MPI_Group_free(&most);
    ranks[0] = 1;
    ranks[1] = n - 1;
    MPI_Group_range_incl(all, 1, &ranks, &most);
    MPI_Comm_create(parent, most, &made); /* not with the first */
    use_and_free(made, key + 7);
    MPI_Group_free(&most);
    MPI_Group_free(&all);
    MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    use_and_free(made, key + 8);
}

/* An attribute's callback makes a communicator of the one that is copied. */
static MPI_Comm made_inside;

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *to,
                int *flag)
{
    (void)keyval;
    (void)extra;
    (void)value;
    (void)to;
    MPI_Comm_split(comm, 0, 0, &made_inside);
    *flag = 0;
    return MPI_SUCCESS;
}

static void make_inside(MPI_Comm parent)
{
    MPI_Comm made;
    int keyval;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(parent, keyval, &keyval);
    MPI_Comm_dup(parent, &made);
    use(made, 500);
    use_and_free(made_inside, 501);
    use_and_free(made, 502);
    MPI_Comm_delete_attr(parent, keyval);
    MPI_Comm_free_keyval(&keyval);
}

/* Two groups, and what they are together. */
static void make_between(MPI_Comm parent)
{
    MPI_Comm half, both, merged, again;
    int me;
    MPI_Comm_rank(parent, &me);
    MPI_Comm_split(parent, me > 0, me, &half);
    MPI_Intercomm_create(half, 0, parent, me > 0 ? 0 : 1, 1, &both);
    MPI_Comm_dup(both, &again);
    MPI_Intercomm_merge(again, me > 0, &merged);
    use_and_free(merged, 600);
    MPI_Comm_free(&again);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void *make_many(void *of)
{
    MPI_Comm *parent = of;
    for (int i = 0; i < 5; i++)
        make_all(*parent, 700 + 20 * i);
    return NULL;
}

static void make_on_threads(MPI_Comm parent)
{
    MPI_Comm parents[2];
    pthread_t other;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(parent, &parents[i]);
    pthread_create(&other, NULL, make_many, &parents[0]);
    make_many(&parents[1]);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&parents[i]);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Errhandler own;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    user = argc > 1 && !strcmp(argv[1], "user");
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm on[] = {parent, MPI_COMM_WORLD, MPI_COMM_SELF};
    for (size_t i = 0; i < LENGTH(on); i++) /* MPIs differ in which */
        MPI_Comm_set_errhandler(on[i], user ? own : MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&own);
    for (int kind = 0; kind < REFUSALS; kind++) {
        if (world_rank == kind % world_size)
            refuse(kind, parent);
        make_all(parent, 20 * kind);
    }
    make_inside(parent);
    make_between(parent);
    if (level == MPI_THREAD_MULTIPLE)
        make_on_threads(parent);
    MPI_Comm_free(&parent);
    test_end();
    return 0;
}
