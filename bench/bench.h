/*
 * bench.h - the contract between straightway-bench and its MPI half.
 *
 * straightway-bench is linked with no MPI. It loads the host it is told to
 * measure and then the module that was compiled for that host's binary
 * interface (libstraightway-bench-<flavour>.so, from collectives.c); the
 * module's MPI calls are bound as any program's would be, to the preloaded
 * front if it is there, else to the host.
 */
#ifndef SW_BENCH_H
#define SW_BENCH_H

#include <stddef.h>

#define SW_BENCH_SYMBOL "sw_bench"
#define SW_BENCH_SIZES 64

typedef struct {
    const char *ops;                /* comma-separated names                */
    size_t size[SW_BENCH_SIZES];    /* bytes per rank                       */
    int size_count;
    double seconds;                 /* budget of one cell                   */
    const char *out;                /* file for rank 0's lines of JSON      */
    unsigned seed;                  /* of the shuffled order                */
    int (*accelerate)(int on);      /* NULL: nothing preloaded              */
} sw_bench_plan_t;

/* Run the plan; the exit status. */
typedef int (*sw_bench_func_t)(const sw_bench_plan_t *plan);

#endif
