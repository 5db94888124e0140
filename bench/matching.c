/*
 * matching.c - the cost of a match beside many that wait.
 *
 *   matching ROUNDS COUNT ...
 *
 * Two ranks. For each COUNT rank 0 has as many receives of rank 1 posted. Or so
 * many messages of rank 1 wait unexpected. Each has a tag of its own. Rank 0
 * prints a line for each: kind, COUNT, then two times in ns, medians over the
 * rounds:
 *
 *   beside   half a round trip of 8 bytes that match none of those
 *   each     a match of one of those, the last first
 *
 * It needs no Straightway, so it measures the host alone as well. matching.py
 * runs it and makes a table.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

#define TIMES 31
#define TRIPS 100
#define ROUNDS_MAX 99

enum { BESIDE = 1, FIRST = 100 }; /* tags */

static MPI_Request *request;
static long *words;
static int rank;

static void trip(void)
{
    long word = 0;
    if (rank == 1)
        MPI_Send(&word, 8, MPI_BYTE, 0, BESIDE, MPI_COMM_WORLD);
    MPI_Recv(&word, 8, MPI_BYTE, 1 - rank, BESIDE, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(&word, 8, MPI_BYTE, 1, BESIDE, MPI_COMM_WORLD);
}

/* ns for half a trip: the median of some times. The first trip, which is not
 * counted, takes what waits out of the pipes. */
static double trips(void)
{
    double ns[TIMES];
    trip();
    for (int i = 0; i < TIMES; i++) {
        double start = MPI_Wtime();
        for (int j = 0; j < TRIPS; j++)
            trip();
        ns[i] = (MPI_Wtime() - start) / TRIPS / 2 * 1e9;
    }
    return sw_median(ns, TIMES);
}

static void send_all(int n, int step)
{
    for (int i = 0; i < n; i++) {
        long at = step > 0 ? i : n - 1 - i;
        MPI_Send(&at, 8, MPI_BYTE, 0, FIRST + (int)at, MPI_COMM_WORLD);
    }
}

static void check(int n)
{
    for (int i = 0; i < n; i++)
        if (words[i] != i) {
            fprintf(stderr, "matching: receive %d got %ld\n", i, words[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void posted(int n, double *beside, double *each)
{
    for (int i = 0; i < n && rank == 0; i++)
        MPI_Irecv(&words[i], 8, MPI_BYTE, 1, FIRST + i, MPI_COMM_WORLD,
                  &request[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    *beside = trips();
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (rank == 1)
        send_all(n, -1);
    else
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    *each = (MPI_Wtime() - start) / n * 1e9;
}

static void unexpected(int n, double *beside, double *each)
{
    if (rank == 1)
        send_all(n, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    *beside = trips();
    double start = MPI_Wtime();
    for (int i = n; i-- > 0 && rank == 0;)
        MPI_Recv(&words[i], 8, MPI_BYTE, 1, FIRST + i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    *each = (MPI_Wtime() - start) / n * 1e9;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    double beside[ROUNDS_MAX], each[ROUNDS_MAX];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = argc > 1 ? atoi(argv[1]) : 5, most = 1;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    for (int i = 2; i < argc; i++)
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    words = malloc((size_t)most * sizeof *words);
    request = malloc((size_t)most * sizeof *request);
    trips();
    for (int kind = 0; kind < 2; kind++)
        for (int a = 2; a < argc; a++) {
            int n = atoi(argv[a]);
            for (int i = 0; i < rounds; i++) {
                (kind ? unexpected : posted)(n, &beside[i], &each[i]);
                if (rank == 0)
                    check(n);
            }
            if (rank == 0)
                printf("%s %d %.1f %.1f\n", kind ? "unexpected" : "posted", n,
                       sw_median(beside, rounds), sw_median(each, rounds));
        }
    free(request);
    free(words);
    MPI_Finalize();
    return 0;
}
