/*
 * Hangs of requests (see hangs.h).
 */
#include "hangs.h"

static MPI_Request pair[2];
static MPI_Status statuses[2];

/* Of two receives one has no send. */
static void waitall(void)
{
    if (me == 0) {
        MPI_Irecv(other, 8, MPI_BYTE, 1, 1, W, &pair[0]);
        MPI_Irecv(other + 8, 8, MPI_BYTE, 2, 1, W, &pair[1]);
        /* HERE waitall 0 */
        MPI_Waitall(2, pair, statuses);
    }
    if (me == 1)
        MPI_Send(big, 8, MPI_BYTE, 0, 1, W);
    /* HERE waitall 1-2 */
    MPI_Barrier(W);
}

/* A rank waits for one of two messages, and nobody sends either. */
static void waitany(void)
{
    int which;
    if (me == 0) {
        MPI_Irecv(other, 8, MPI_BYTE, 1, 1, W, &pair[0]);
        MPI_Irecv(other + 8, 8, MPI_BYTE, 2, 1, W, &pair[1]);
        /* HERE waitany 0 */
        MPI_Waitany(2, pair, &which, IGNORE);
    }
    /* HERE waitany 1-2 */
    MPI_Barrier(W);
}

/* A rank tests for a message that never comes. */
static void test_loop(void)
{
    int done = 0;
    if (me == 0) {
        MPI_Irecv(other, 8, MPI_BYTE, 1, 4, W, &pair[0]);
        /* HERE test_loop 0 */
        while (!done) {
            /* HERE test_loop 0 */
            MPI_Test(&pair[0], &done, IGNORE);
        }
    }
    /* HERE test_loop 1 */
    MPI_Barrier(W);
}

/* A rank looks for a message that never comes. */
static void iprobe_loop(void)
{
    int there = 0;
    if (me == 0) {
        /* HERE iprobe_loop 0 */
        while (!there) {
            /* HERE iprobe_loop 0 */
            MPI_Iprobe(1, 4, W, &there, IGNORE);
        }
    }
    /* HERE iprobe_loop 1 */
    MPI_Barrier(W);
}

/* A persistent receive starts, and its send does not. */
static void persistent(void)
{
    if (me == 0) {
        MPI_Recv_init(other, 8, MPI_BYTE, 1, 2, W, &pair[0]);
        MPI_Start(&pair[0]);
        /* HERE persistent 0 */
        MPI_Wait(&pair[0], IGNORE);
    }
    MPI_Send_init(big, 8, MPI_BYTE, 0, 2, W, &pair[1]);
    /* HERE persistent 1 */
    MPI_Barrier(W);
}

/* A rank waits for a send that nobody receives. */
static void issend(void)
{
    if (me == 0) {
        MPI_Issend(big, 8, MPI_BYTE, 1, 3, W, &pair[0]);
        /* HERE issend 0 */
        MPI_Wait(&pair[0], IGNORE);
    }
    /* HERE issend 1 */
    MPI_Barrier(W);
}

/* Two ranks begin big sends, and wait for them before they receive. */
static void isends_before_receives(void)
{
    MPI_Isend(big, BIG, MPI_BYTE, !me, 5, W, &pair[0]);
    /* HERE isends_before_receives 0-1 */
    MPI_Wait(&pair[0], IGNORE);
    MPI_Recv(other, BIG, MPI_BYTE, !me, 5, W, IGNORE);
}

/* A rank waits for a receive, and the other ends. */
static void wait_against_finalize(void)
{
    if (me == 0) {
        MPI_Irecv(other, 8, MPI_BYTE, 1, 3, W, &pair[0]);
        /* HERE wait_against_finalize 0 */
        MPI_Wait(&pair[0], IGNORE);
    }
    /* HERE wait_against_finalize 1 */
    MPI_Finalize();
    /* HERE wait_against_finalize 1 */
    SLEEP_ON;
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {
        KIND(waitall),
        KIND(waitany),
        KIND(test_loop),
        KIND(iprobe_loop),
        KIND(persistent),
        KIND(issend),
        KIND(isends_before_receives),
        KIND(wait_against_finalize),
    };
    HANG(argc, argv, kinds);
}
