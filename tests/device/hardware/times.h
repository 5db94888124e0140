/*
 * times.h - ways to move a type's data, and their cost.
 */
#ifndef TIMES_H
#define TIMES_H

#include "types.h"

typedef enum {
    KERNEL,
    BLOCK_COPIES,
    PLANE_COPY,
    CUBE_COPY,
    BATCH,
    PLAIN,
    TO_HOST,
    FROM_HOST,
    KERNEL_THEN_TO_HOST,
    FROM_HOST_THEN_KERNEL
} way_t;

typedef struct {
    way_t way;
    const sw_plan_t *plan;
    gpu_kernels_t *kernels;
    bool resident;
    const type_t *type;
    at_t from, to;
    void *host;
    size_t bytes;
} job_t;

typedef struct {
    double device, host; /* microseconds */
    int samples;
} cost_t;

extern gpu_kernels_t standard; /* the kernels of move-4 */
/* Memory of the device: two large blocks, packed data, tables of types, and a
 * block of the other process (0: there is none). */
extern at_t mine, target, packed, table, theirs;
extern handle_t before, after, busy; /* events, and a kernel: delay */
extern double deadline;

/* The blocks of a type of which a copy per block is timed. */
uint64_t time_blocks(const type_t *t);
/* The medians of a job; no samples if the driver refused it. */
cost_t time_measure(const job_t *j);
/* Add a cost to the file of results. */
void time_record(const char *type, uint64_t bytes, const char *way, cost_t c);
/* GB/s on the device. */
double time_rate(uint64_t bytes, cost_t c);
/* A plan for all of a type's data: at either side, as a type or packed. */
sw_plan_t time_plan(const type_t *t, at_t from, bool source, at_t to, bool sink,
                    int wish, int unroll);

/* Print what kernels cost that load and store the host's memory. */
void times_with_host(void);
/* Print what a launch and the wait for its end cost. */
void times_of_launches(void);

#endif
