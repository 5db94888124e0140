/*
 * Hangs of collective procedures (see hangs.h).
 */
#include "hangs.h"

/* What no rank gives at once. */
enum { PART = 1 << 20 };

static int one = 1, sum;

/* The communicator of MPI_COMM_WORLD's ranks with one colour. */
static MPI_Comm part(int color, const char *name)
{
    MPI_Comm made;
    MPI_Comm_split(W, color, me, &made);
    MPI_Comm_set_name(made, name);
    return made;
}

/* One rank names another root. */
static void wrong_root(void)
{
    /* HERE wrong_root 0-3 */
    MPI_Gather(big, PART, MPI_BYTE, other, PART, MPI_BYTE, me == 2, W);
    /* HERE wrong_root 0-3 */
    MPI_Barrier(W);
}

/* One rank broadcasts where the others reduce. Of different sizes some MPIs
 * would take one's message for the other's, and end the job. */
static void bcast_against_reduce(void)
{
    if (me == 2) {
        /* HERE bcast_against_reduce 2 */
        MPI_Bcast(big, 8, MPI_BYTE, 0, W);
    } else {
        /* HERE bcast_against_reduce 0-1,3 */
        MPI_Reduce(big, other, 8, MPI_BYTE, MPI_BOR, 0, W);
    }
    /* HERE bcast_against_reduce 0-3 */
    MPI_Barrier(W);
}

/* One rank reduces where the other only meets it. */
static void allreduce_against_barrier(void)
{
    if (me == 0) {
        /* HERE allreduce_against_barrier 0 */
        MPI_Allreduce(big, other, PART, MPI_BYTE, MPI_BOR, W);
    } else {
        /* HERE allreduce_against_barrier 1 */
        MPI_Barrier(W);
    }
    /* HERE allreduce_against_barrier 0-1 */
    MPI_Alltoall(big, 8, MPI_BYTE, other, 8, MPI_BYTE, W);
}

/* Two ranks meet on two communicators, each on another one first. */
static void two_communicators(void)
{
    MPI_Comm a, b;
    MPI_Comm_dup(W, &a);
    MPI_Comm_dup(W, &b);
    MPI_Comm_set_name(a, "A");
    MPI_Comm_set_name(b, "B");
    /* HERE two_communicators 0-1 */
    MPI_Barrier(me ? b : a);
    MPI_Barrier(me ? a : b);
}

/* One rank leaves a collective out, and computes. */
static void skipped_collective(void)
{
    if (me != 3) {
        /* HERE skipped_collective 0-2 */
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
    }
    /* HERE skipped_collective 3 */
    SLEEP_ON;
}

/* One rank leaves a collective out, and calls the next one. */
static void shifted_collective(void)
{
    if (me != 1) {
        /* HERE shifted_collective 0,2 */
        MPI_Allreduce(big, other, PART, MPI_BYTE, MPI_BOR, W);
    }
    /* HERE shifted_collective 0-2 */
    MPI_Allgather(big, 8, MPI_BYTE, other, 8, MPI_BYTE, W);
    /* HERE shifted_collective 0-2 */
    MPI_Barrier(W);
}

/* One rank's loop has a step less than the others' loops. */
static void one_step_less(void)
{
    for (int step = 0; step < 6 - (me == 1); step++) {
        /* HERE one_step_less 0,2 */
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
    }
    /* HERE one_step_less 1 */
    MPI_Finalize();
    /* HERE one_step_less 1 */
    SLEEP_ON;
}

/* One rank meets the others on another communicator than they do. */
static void wrong_communicator(void)
{
    MPI_Comm a;
    MPI_Comm_dup(W, &a);
    MPI_Comm_set_name(a, "A");
    /* HERE wrong_communicator 0-2 */
    MPI_Barrier(me == 1 ? a : W);
}

/* In a grid of 2 x 2 ranks 0 and 2 wait for their rows, rank 1 for its column.
 * Rank 3 alone is the cause. */
static void grid(void)
{
    MPI_Comm row = part(me / 2, "row"), column = part(me % 2, "column");
    if (me % 2 == 0) {
        /* HERE grid 0,2 */
        MPI_Barrier(row);
    } else if (me == 1) {
        /* HERE grid 1 */
        MPI_Barrier(column);
    }
    /* HERE grid 3 */
    SLEEP_ON;
}

/* One rank does not duplicate the communicator. */
static void comm_dup(void)
{
    MPI_Comm made;
    if (me != 2) {
        /* HERE comm_dup 0-1 */
        MPI_Comm_dup(W, &made);
    }
    /* HERE comm_dup 2 */
    SLEEP_ON;
}

/* One rank waits for a message and does not split the communicator. */
static void comm_split(void)
{
    MPI_Comm made;
    if (me != 1) {
        /* HERE comm_split 0,2 */
        MPI_Comm_split(W, 0, me, &made);
    }
    /* HERE comm_split 1 */
    MPI_Recv(other, 8, MPI_BYTE, 0, 1, W, IGNORE);
}

/* Two ranks free a communicator on which the third waits for them. */
static void comm_free(void)
{
    MPI_Comm a;
    MPI_Comm_dup(W, &a);
    MPI_Comm_set_name(a, "A");
    if (me == 2) {
        /* HERE comm_free 2 */
        MPI_Barrier(a);
    } else {
        /* HERE comm_free 0-1 */
        MPI_Comm_free(&a);
    }
    /* HERE comm_free 0-1 */
    MPI_Barrier(W);
}

/* Of two groups one has a rank that does not come. */
static void intercommunicator(void)
{
    MPI_Comm half = part(me / 2, "half"), between;
    MPI_Intercomm_create(half, 0, W, me < 2 ? 2 : 0, 1, &between);
    MPI_Comm_set_name(between, "between");
    if (me != 3) {
        /* HERE intercommunicator 0-2 */
        MPI_Barrier(between);
    }
    /* HERE intercommunicator 0-3 */
    MPI_Recv(other, 8, MPI_BYTE, 0, 1, W, IGNORE);
}

/* One rank begins a barrier, and never waits for it. */
static void ibarrier(void)
{
    MPI_Request request;
    MPI_Ibarrier(W, &request);
    if (me == 1) {
        /* HERE ibarrier 1 */
        SLEEP_ON;
    }
    /* HERE ibarrier 0,2 */
    MPI_Wait(&request, IGNORE);
    /* HERE ibarrier 0,2 */
    MPI_Barrier(W);
}

/* One rank does not begin a reduction that the others wait for. */
static void iallreduce(void)
{
    MPI_Request request;
    if (me == 1) {
        /* HERE iallreduce 1 */
        SLEEP_ON;
    }
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W, &request);
    /* HERE iallreduce 0,2 */
    MPI_Wait(&request, IGNORE);
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {
        KIND(wrong_root),
        KIND(bcast_against_reduce),
        KIND(allreduce_against_barrier),
        KIND(two_communicators),
        KIND(skipped_collective),
        KIND(shifted_collective),
        KIND(one_step_less),
        KIND(wrong_communicator),
        KIND(grid),
        KIND(comm_dup),
        KIND(comm_split),
        KIND(comm_free),
        KIND(intercommunicator),
        KIND(ibarrier),
        KIND(iallreduce),
    };
    HANG(argc, argv, kinds);
}
