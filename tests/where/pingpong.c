/*
 * Two ranks send each other messages, until a file is there.
 *
 *     pingpong FILE
 *
 * Each checks every byte that it receives, and so a message that is lost, or
 * comes twice, shows. Between two messages the ranks compute, where a reader of
 * their stacks stops them. Rank 0 tells its rounds at the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 1000 };

static int me, last;
static unsigned data[WORDS];

static unsigned word(unsigned round, int i)
{
    return round * 2654435761u + (unsigned)i;
}

static void send(unsigned round)
{
    for (int i = 0; i < WORDS; i++)
        data[i] = word(round, i);
    MPI_Send(data, WORDS, MPI_UNSIGNED, !me, last, MPI_COMM_WORLD);
}

/* Receive, and take over whether it is the last round. */
static void receive(unsigned round)
{
    MPI_Status status;
    MPI_Recv(data, WORDS, MPI_UNSIGNED, !me, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    last = status.MPI_TAG;
    for (int i = 0; i < WORDS; i++) {
        if (data[i] != word(round, i)) {
            fprintf(stderr, "round %u: word %d is wrong\n", round, i);
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
    }
}

int main(int argc, char **argv)
{
    unsigned round = 0, all;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (; !last; round++) {
        if (me == 0) {
            last = access(argv[1], F_OK) == 0;
            send(round);
            receive(round);
        } else {
            receive(round);
            send(round);
        }
    }
    MPI_Reduce(&round, &all, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%u rounds are right\n", all / 2);
    MPI_Finalize();
    return 0;
}
