/*
 * sampling.h - how a cell is measured, whatever it holds.
 *
 * A cell is one thing to call at one size. Its owner says how to repeat the
 * call and how to check what it did; batches, rounds, the order of host and
 * ours, and the line of JSON are the same for all (sampling.c).
 */
#ifndef SW_BENCH_SAMPLING_H
#define SW_BENCH_SAMPLING_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench.h"

enum { SW_HOST, SW_OURS, SW_MODES };

/* This run. */
typedef struct {
    const sw_bench_plan_t *plan;
    MPI_Comm comm;
    int rank, ranks;
    int modes;              /* 2, or 1 where ours cannot be switched on     */
} sw_run_t;

extern sw_run_t sw_run;

typedef struct sw_cell sw_cell_t;
struct sw_cell {
    const char *name;
    size_t size;
    const void *what;                               /* the owner's own      */
    int (*repeat)(const void *what, int calls);     /* an MPI error, or 0   */
    bool (*check)(const sw_cell_t *cell, int mode); /* on all ranks alike   */
    double share;           /* of the time of a call that is reported       */
    void (*more)(FILE *file);   /* more members for the line, or NULL       */
};

/* Measure, check and write down; false when a result was wrong. */
bool sw_measure(const sw_cell_t *cell);

/* One batch in one mode, after a barrier of that mode: its seconds here. */
double sw_batch(const sw_cell_t *cell, int mode, int calls);

/* Seconds that a batch must last at least. */
double sw_shortest_batch(void);

double sw_now(void);

/* Whether `name` is in a comma-separated list. */
bool sw_chosen(const char *list, const char *name);

/* The two benchmarks. Each makes its buffers, opens the output by start()
 * (the same on every rank) and measures its cells; false when one of these
 * failed, which it has said on stderr, or when a result was wrong. */
bool sw_collectives(bool (*start)(void));
bool sw_pingpong(bool (*start)(void));

#endif
