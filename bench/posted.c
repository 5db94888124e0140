/*
 * posted.c - the cost of polling calls beside many posted receives.
 *
 *   posted ROUNDS [RECEIVES ...]
 *
 * Two ranks. Rank 0 posts receives that no message matches, and calls
 *
 *   Iprobe   MPI_Iprobe for a tag that no rank sends
 *   one      MPI_Test of one of the receives, always the same
 *   each     MPI_Test of all the receives in turn
 *
 * The host alone and Straightway take turns: rank 0 posts, polls and cancels
 * the receives under one of them, then under the other. "waiting" says whether
 * a large message stays unreceived meanwhile. Rank 0 prints one line for each
 * cell: call, receives, waiting, then ns for the host and for Straightway,
 * medians over the rounds. posted.py runs it and makes a table.
 */
#include <mpi.h>
#include <straightway.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "median.h"
#include "node/control.h"

#define ROOM 8192
#define LARGE 65536
#define CALLS 2000
#define ROUNDS_MAX 99

enum { NEVER = 1, UNMATCHED, BACK, POSTED }; /* tags */
enum { IPROBE, ONE, EACH, KINDS };

static const char *const names[KINDS] = {"Iprobe", "one", "each"};
static MPI_Comm comm;
static MPI_Request *request;
static int rank;

static void call(int kind, int i, int n)
{
    MPI_Status status;
    int flag;
    if (kind == IPROBE)
        MPI_Iprobe(1, NEVER, comm, &flag, &status);
    else
        MPI_Test(&request[kind == ONE ? n / 2 : i % n], &flag, &status);
    if (flag) {
        fprintf(stderr, "posted: something was received\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ns for one call of each kind, beside n receives. */
static void measure(int n, char *room, double *ns)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(room + (size_t)i * ROOM, ROOM, MPI_BYTE, 1, POSTED + i % 7,
                  comm, &request[i]);
    for (int kind = 0; kind < KINDS; kind++) {
        /* Until it takes long enough to be timed, or long enough at all. */
        double took = 0;
        int done = 0;
        for (int i = 0; i < 64; i++)
            call(kind, i, n);
        double start = MPI_Wtime();
        while (done < CALLS * 10 && took < 0.02) {
            for (int i = 0; i < 100; i++, done++)
                call(kind, done, n);
            took = MPI_Wtime() - start;
        }
        ns[kind] = took / done * 1e9;
    }
    for (int i = 0; i < n; i++) {
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static double seen[2][KINDS][ROUNDS_MAX];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int rounds = argc > 1 ? atoi(argv[1]) : 5, most = 1;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    for (int i = 2; i < argc; i++)
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    char *room = calloc((size_t)most, ROOM), *large = calloc(1, LARGE);
    request = malloc((size_t)most * sizeof *request);
    if (straightway_accelerate(-1) < 0 || !room || !large || !request) {
        fprintf(stderr, "posted: not preloaded, or out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int waiting = 0; waiting < 2; waiting++) {
        MPI_Request sent = MPI_REQUEST_NULL;
        straightway_accelerate(1);
        if (waiting && rank == 1)
            MPI_Isend(large, LARGE, MPI_BYTE, 0, UNMATCHED, comm, &sent);
        MPI_Barrier(comm);
        for (int a = 2; a < argc && rank == 0; a++) {
            int n = atoi(argv[a]);
            for (int r = 0; r < 2 * rounds; r++) {
                double ns[KINDS];
                straightway_accelerate(r % 2 ? SW_ACCELERATE_ON
                                             : SW_ACCELERATE_OFF);
                measure(n, room, ns);
                for (int k = 0; k < KINDS; k++)
                    seen[r % 2][k][r / 2] = ns[k];
            }
            for (int k = 0; k < KINDS; k++)
                printf("%s %d %d %.1f %.1f\n", names[k], n, waiting,
                       sw_median(seen[0][k], rounds),
                       sw_median(seen[1][k], rounds));
            fflush(stdout);
        }
        straightway_accelerate(1);
        /* Rank 1 waits in a receive meanwhile. */
        if (rank == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 1, BACK, comm);
            if (waiting)
                MPI_Recv(large, LARGE, MPI_BYTE, 1, UNMATCHED, comm,
                         MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, BACK, comm, MPI_STATUS_IGNORE);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
