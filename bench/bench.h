/*
 * bench.h - the contract between straightway-bench and its MPI half.
 *
 * straightway-bench links to no MPI. It loads the host to measure, and then the
 * module compiled for that host's binary interface: that is
 * libstraightway-bench-<flavour>.so, from collectives.c, overlap.c, onesided.c,
 * pingpong.c, datatypes.c, profile.c, placement.c and the files that they
 * share. The module's MPI calls bind as any program's: to the preloaded front
 * if there is one, else to the host.
 */
#ifndef SW_BENCH_H
#define SW_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#define SW_BENCH_SYMBOL "sw_bench"
#define SW_BENCH_SIZES 256

/* The memory of bench pingpong's messages. */
typedef enum { SW_BENCH_HEAP, SW_BENCH_STACK, SW_BENCH_MMAP } sw_bench_memory_t;

/* The memory of windows: of MPI_Win_create on the heap, allocated by the MPI in
 * two ways, attached, or of MPI_Win_create in a private mapping. */
typedef enum {
    SW_BENCH_CREATED,
    SW_BENCH_ALLOCATED,
    SW_BENCH_SHARED,
    SW_BENCH_DYNAMIC,
    SW_BENCH_MAPPED
} sw_bench_windows_t;

typedef struct {
    const char *ops;     /* collectives: comma-separated names */
    const char *overlap; /* or else nonblocking ones: the same */
    /* of the collectives, nonblocking or not, these cells alone, as in
     * allreduce/8,barrier/0; NULL: all */
    const char *cells;
    double within;        /* seconds for all cells of them; 0: any time */
    const char *onesided; /* or else one-sided ones: the same */
    const char *patterns; /* or else pingpong: the same */
    const char *kernels;  /* or else datatypes: the same */
    const char *items;    /* or else profile: the same */
    /* or else placement.c: a file with one value of JSON that describes the
     * node, or - */
    const char *placement;
    /* bytes per rank, per message; for datatypes the least and the most, for
     * profile none */
    size_t size[SW_BENCH_SIZES];
    int size_count;
    double seconds;            /* budget of one cell */
    const char *out;           /* file for rank 0's lines of JSON */
    unsigned seed;             /* of the shuffled order */
    int (*accelerate)(int on); /* NULL: nothing preloaded */

    /* Of collectives, and of the pattern pingpong: each call comes after a
     * computation (computing.h), which goes through so many bytes. */
    bool computing;
    size_t swept;

    /* Of collectives alone. */
    /* over nodes, leaders and lanes forced, too (mpi/base/span_way.h) */
    bool each_way;
    /* doubles in a row, with gaps as long between the rows; 0: no gaps */
    int run;

    /* Of nonblocking collectives alone. */
    int tests; /* calls of MPI_Test in a computation */

    /* Of one-sided operations alone. */
    sw_bench_windows_t windows;

    /* Of pingpong alone. */
    const char *protocols; /* one column for each: ladder.h */
    int window;            /* messages under way at once */
    /* of messages sent and received, from the start of a page */
    size_t offset[2];
    size_t cold; /* bytes to walk through; 0: warm */
    sw_bench_memory_t memory;

    /* Of datatypes alone. */
    const char *data; /* fresh, untouched, or both */
    bool published;   /* only the sizes of papers */
    bool gpu[2];      /* a rank's arrays lie in a GPU's memory */

    /* Of profile alone. */
    bool paused; /* MPI_Pcontrol(0) before it begins */

    /* Of placement alone. */
    bool between; /* measure messages between nodes */

    bool corrupt; /* spoil received data: is it found? */
} sw_bench_plan_t;

/* Run the plan; the exit status. */
typedef int (*sw_bench_func_t)(const sw_bench_plan_t *plan);

#endif
