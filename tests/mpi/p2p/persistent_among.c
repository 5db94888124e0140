/*
 * persistent_among.c - persistent collectives completed together with messages
 * that we carry: MPI_Waitall, in any order of the array; with "some" and "any"
 * MPI_Waitsome and MPI_Waitany. Prints "all is well", or "none here" where the
 * MPI has no persistent collectives.
 */
#include "mpi/test.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { BYTES = 1 << 20, ALL = 4, ROUNDS = 24 };

static int me, n;

static void complete(const char *how, MPI_Request *request)
{
    MPI_Status statuses[ALL];
    int done, indices[ALL];
    if (!strcmp(how, "all")) {
        MPI_Waitall(ALL, request, statuses);
    } else if (!strcmp(how, "some")) {
        for (int left = ALL; left > 0; left -= done)
            MPI_Waitsome(ALL, request, &done, indices, statuses);
    } else {
        for (int i = 0; i < ALL; i++)
            MPI_Waitany(ALL, request, &done, statuses);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "all";
    int mine[2], sum[2];
    MPI_Request made[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    char *out = malloc(BYTES), *in = malloc(BYTES);
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &made[i]);
    for (int round = 0; round < ROUNDS; round++) {
        /* Collectives first, last, and between the messages. */
        int order[ALL] = {round % 4, (round + 1) % 4, (round + 2) % 4,
                          (round + 3) % 4};
        MPI_Request request[ALL];
        memset(out, me + round, BYTES);
        memset(in, -1, BYTES);
        for (int i = 0; i < 2; i++) {
            mine[i] = (i + 1) * me + round;
            sum[i] = -1;
            request[order[2 * i]] = made[i];
        }
        MPI_Isend(out, BYTES, MPI_CHAR, (me + 1) % n, 1, MPI_COMM_WORLD,
                  &request[order[1]]);
        MPI_Irecv(in, BYTES, MPI_CHAR, (me + n - 1) % n, 1, MPI_COMM_WORLD,
                  &request[order[3]]);
        MPI_Startall(2, made);
        complete(how, request);
        char expected = (char)((me + n - 1) % n + round);
        for (int i = 0; i < 2; i++)
            if (sum[i] != (i + 1) * n * (n - 1) / 2 + n * round)
                fail("round %d: sum %d is %d", round, i, sum[i]);
        if (in[0] != expected || memcmp(in, in + 1, BYTES - 1))
            fail("round %d: the message is not what was sent", round);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&made[i]);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
#else
int main(void)
{
    MPI_Init(NULL, NULL);
    printf("none here\n");
    MPI_Finalize();
    return 0;
}
#endif
