/*
 * sampling.h - the measurement of a cell.
 *
 * A cell is one call at one size, in two ways or more: by the host, by
 * Straightway. Its owner gives functions that repeat the call and check its
 * result. Batches, rounds, the order of the ways, and the line of JSON are the
 * same for all (sampling.c).
 */
#ifndef SW_BENCH_SAMPLING_H
#define SW_BENCH_SAMPLING_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench.h"
#include "nodes.h"

enum { SW_HOST, SW_OURS, SW_MODES, SW_LEFT_OUT = SW_MODES };
enum { SW_MOST_WAYS = 34 };

/* This run. */
typedef struct {
    const sw_bench_plan_t *plan;
    MPI_Comm comm;
    int rank, ranks;
    int modes; /* 2, or 1 where ours cannot be switched on */
    sw_nodes_t nodes;
} sw_run_t;

extern sw_run_t sw_run;

/* A way to do what a cell holds: its name in the output, the mode that it runs
 * in, that mode's state of the switch (node/control.h), and the calls of its
 * batches; 0: the usual ones. A way of ours is left out where ours cannot be
 * switched on, and one of the mode SW_LEFT_OUT always. */
typedef struct {
    const char *name;
    int mode, state, calls;
} sw_sampling_way_t;

typedef struct sw_cell sw_cell_t;
struct sw_cell {
    const char *name;
    size_t size;
    const void *what; /* the owner's own */
    /* NULL: one for each mode, of the same number */
    const sw_sampling_way_t *ways;
    int way_count;

    /* An MPI error, or 0. An owner that times a part only sets *seconds. */
    int (*repeat)(const void *what, int way, int calls, double *seconds);
    bool (*check)(const sw_cell_t *cell, int way); /* on all ranks alike */
    int calls;                /* of a batch; 0: so many that it lasts long */
    bool counted;             /* over nodes, count the bytes between them */
    double share;             /* of the time of a call that is reported */
    void (*settle)(void);     /* on all ranks, after the last sample */
    void (*more)(FILE *file); /* more members for the line, or NULL */
};

/* Measure, check and write down; false when a result was wrong. */
bool sw_measure(const sw_cell_t *cell);

/* Calls of a batch, of calls that are timed one by one. */
enum { SW_CALLS_ALONE = 4 };

/* One batch in one way, after a barrier of that way's mode: its seconds
 * here. */
double sw_batch(const sw_cell_t *cell, int way, int calls);

/* Within a batch: all ranks meet by the host's barrier, whatever the way. They
 * leave it equally far apart in all ways. */
void sw_meet(void);

/* Seconds that a batch must last at least. */
double sw_shortest_batch(void);

double sw_now(void);

/* The opened output on rank 0, NULL on the others. */
FILE *sw_output(void);

/* May the first of so many cells begin? Rank 0 says so to all, and how long it
 * may take. */
bool sw_time_is_left(int cells);
double sw_cell_seconds(void);

/* The µs of one of `calls` copies, the least of several batches on rank 0.
 * The other ranks sleep: they must not take the core. */
double sw_least_copy(double (*copies)(int calls));

/* Whether `name` is in a comma-separated list. */
bool sw_chosen(const char *list, const char *name);

/* The benchmarks. Each makes its buffers, opens the output by start()
 * (the same on every rank) and measures its cells; false when one of these
 * failed, which it has said on stderr, or when a result was wrong. */
bool sw_collectives(bool (*start)(void));
bool sw_overlap(bool (*start)(void));
bool sw_onesided(bool (*start)(void));
bool sw_pingpong(bool (*start)(void));
bool sw_datatypes(bool (*start)(void));
bool sw_profile(bool (*start)(void));

#endif
