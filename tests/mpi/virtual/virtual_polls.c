/*
 * virtual_polls.c - ranks that poll without success, in virtual time.
 *
 * virtual_polls HOW MS [N]    rank 0 sleeps so long, in N pieces, and sends to
 *                             all others; these poll until they have it; the
 *                             first of them says how long that took, ns, and
 *                             how often it polled
 *
 * HOW: iprobe, any, test, testany; in turn: two tags, two requests; with a
 * clock or a nap between polls; after other messages: work. deadline: no rank
 * sends, and all poll for so long. useful: a rank works between polls, N times
 * half a millisecond, and the message comes after that.
 */
#include "mpi/test.h"

#include <time.h>

enum { TAG = 7, OTHER = 8, OWN = 9 };

static int me, n;
static long polls;

static void iprobe(int source, int tag, int *flag)
{
    polls++;
    MPI_Iprobe(source, tag, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE);
}

static void test(MPI_Request *request, int *flag)
{
    polls++;
    MPI_Test(request, flag, MPI_STATUS_IGNORE);
}

static void poll_for_it(const char *how)
{
    MPI_Request r[2];
    int flag = 0, x, i = 0;
    bool requests = !strncmp(how, "test", 4) || !strcmp(how, "two_requests");
    if (requests) {
        MPI_Irecv(&x, 1, MPI_INT, strcmp(how, "testany") ? 0 : MPI_ANY_SOURCE,
                  TAG, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&x, 1, MPI_INT, 0, OTHER, MPI_COMM_WORLD, &r[1]);
    }
    for (; !flag; i++) {
        if (!strcmp(how, "two_requests"))
            test(&r[i & 1], &flag);
        else if (requests)
            test(&r[0], &flag);
        else if (!strcmp(how, "any"))
            iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, &flag);
        else if (!strcmp(how, "two_tags"))
            iprobe(MPI_ANY_SOURCE, i & 1 ? OTHER : TAG, &flag);
        else
            iprobe(0, TAG, &flag);
        if (!strcmp(how, "clock"))
            clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0, 0});
        else if (!strcmp(how, "nap") && !flag)
            usleep(10);
        else if (!strcmp(how, "work"))
            MPI_Sendrecv(&i, 1, MPI_INT, me, OWN, &x, 1, MPI_INT, me, OWN,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!requests) {
        MPI_Recv(&x, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Cancel(&r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    }
}

static void poll_until(double end)
{
    int flag;
    while (MPI_Wtime() < end) {
        iprobe(0, TAG, &flag);
        CHECK(!flag, "nobody has sent");
    }
}

static void poll_at_work(int times)
{
    int flag, x;
    for (int i = 0; i < times; i++) {
        iprobe(0, TAG, &flag);
        CHECK(!flag, "it comes after the work");
        usleep(500);
    }
    double end = MPI_Wtime();
    MPI_Recv(&x, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1)
        printf("waited %.1f\n", (MPI_Wtime() - end) * 1e9);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int ms = argc > 2 ? atoi(argv[2]) : 0;
    int times = argc > 3 ? atoi(argv[3]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    bool deadline = !strcmp(how, "deadline"), useful = !strcmp(how, "useful");
    if (me == 0 && !deadline) {
        for (int i = 0; i < (useful ? 1 : times); i++)
            usleep((useconds_t)ms * 1000 / (useful ? 1 : times));
        for (int i = 1; i < n; i++)
            MPI_Send(&me, 1, MPI_INT, i, TAG, MPI_COMM_WORLD);
    } else if (deadline) {
        poll_until(begin + ms * 1e-3);
    } else if (useful) {
        poll_at_work(times);
    } else {
        poll_for_it(how);
    }
    if (me == 1)
        printf("took %.1f\npolls %ld.0\n", (MPI_Wtime() - begin) * 1e9, polls);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
