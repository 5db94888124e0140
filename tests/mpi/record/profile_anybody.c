/*
 * profile_anybody.c - senders that wait for receivers that ask for anybody.
 *
 * In each case rank 1 sends, and rank 0 receives a tenth of a second later.
 * Each case is a region of its own, named after it. In those that begin with
 * "early" rank 0 has posted the receive before. Usage: profile_anybody, 2
 * ranks.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

#include "straightway.h"

#define BIG 300000
#define ANY MPI_ANY_SOURCE
#define WORLD MPI_COMM_WORLD

static int me;
static double a[BIG], b[BIG];
static MPI_Status s;

static void late(void)
{
    usleep(100000);
}

static void receive(int source, int tag)
{
    late();
    MPI_Recv(b, BIG, MPI_DOUBLE, source, tag, WORLD, &s);
}

static void receive_any(void)
{
    receive(ANY, 1);
}
static void receive_any_tag(void)
{
    receive(1, MPI_ANY_TAG);
}
static void receive_any_ignored(void)
{
    late();
    MPI_Recv(b, BIG, MPI_DOUBLE, ANY, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
}

static void nonblocking(void)
{
    MPI_Request r;
    late();
    MPI_Irecv(b, BIG, MPI_DOUBLE, ANY, MPI_ANY_TAG, WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void completed_late(void)
{
    MPI_Request r;
    late();
    MPI_Irecv(b, BIG, MPI_DOUBLE, ANY, MPI_ANY_TAG, WORLD, &r);
    for (int done = 0; !done; usleep(1000))
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request r;
    MPI_Recv_init(b, BIG, MPI_DOUBLE, ANY, 1, WORLD, &r);
    late();
    MPI_Start(&r);
    MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r);
}

static void probed(void)
{
    late();
    MPI_Probe(ANY, MPI_ANY_TAG, WORLD, &s);
    MPI_Recv(b, BIG, MPI_DOUBLE, ANY, s.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
}

static void matched(void)
{
    MPI_Message m;
    late();
    MPI_Mprobe(ANY, MPI_ANY_TAG, WORLD, &m, &s);
    MPI_Mrecv(b, BIG, MPI_DOUBLE, &m, MPI_STATUS_IGNORE);
}

static void matched_at_once(void)
{
    MPI_Message m;
    MPI_Request r;
    late();
    for (int found = 0; !found;)
        MPI_Improbe(ANY, MPI_ANY_TAG, WORLD, &found, &m, &s);
    MPI_Imrecv(b, BIG, MPI_DOUBLE, &m, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void both_ways(void)
{
    late();
    MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, b, BIG, MPI_DOUBLE, ANY,
                 MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
}

static void early(void)
{
    MPI_Request r;
    MPI_Irecv(b, BIG, MPI_DOUBLE, ANY, MPI_ANY_TAG, WORLD, &r);
    MPI_Send(NULL, 0, MPI_INT, 1, 2, WORLD);
    late();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void synchronous(int n)
{
    MPI_Ssend(a, n, MPI_DOUBLE, 0, 1, WORLD);
}

static void started(int n)
{
    MPI_Request r[2];
    MPI_Issend(a, n, MPI_DOUBLE, 0, 1, WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void once_posted(int n)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, 2, WORLD, MPI_STATUS_IGNORE);
    synchronous(n);
}

static void pause_of_the_receiver(void)
{
    late();
    MPI_Pcontrol(0);
    MPI_Recv(b, BIG, MPI_DOUBLE, ANY, MPI_ANY_TAG, WORLD, &s);
    MPI_Pcontrol(1);
}

static const struct {
    const char *name;
    void (*receive)(void);
    void (*send)(int n);
} cases[] = {
    {"any source", receive_any, synchronous},
    {"any tag", receive_any_tag, synchronous},
    {"any source and tag", receive_any_ignored, synchronous},
    {"nonblocking", nonblocking, synchronous},
    {"completed late", completed_late, synchronous},
    {"persistent", persistent, synchronous},
    {"probed", probed, synchronous},
    {"matched", matched, synchronous},
    {"matched at once", matched_at_once, synchronous},
    {"both ways", both_ways, synchronous},
    {"to a started send", receive_any, started},
    {"paused", pause_of_the_receiver, synchronous},
    {"early", early, once_posted},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &me);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int big = 0; big < 2; big++) {
            char name[100];
            snprintf(name, sizeof name, "%s, %s", cases[i].name,
                     big ? "large" : "small");
            MPI_Barrier(WORLD);
            straightway_region_begin(name);
            if (me == 0)
                cases[i].receive();
            else
                cases[i].send(big ? BIG : 1);
            straightway_region_end(NULL);
        }
    MPI_Finalize();
    if (me == 0)
        puts("all is well");
    return 0;
}
