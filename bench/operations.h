/*
 * operations.h - the collectives in all their forms, on the data of blocks.h.
 *
 * MPI gives a collective's blocking, nonblocking and persistent form the same
 * arguments, and appends a request, or an MPI_Info and a request.
 */
#ifndef SW_BENCH_OPERATIONS_H
#define SW_BENCH_OPERATIONS_H

#include "blocks.h"
#include "sampling.h"

typedef struct {
    const char *name;
    sw_result_t result;
    int (*call)(void);
    int (*start)(MPI_Request *request);
    /* the persistent form; the host may lack it */
    int (*bind)(MPI_Request *request);
} sw_operation_t;

extern const sw_operation_t sw_operations[];
extern const int sw_operation_count;

/* Whether the host, and the header of this module, have the persistent
 * forms. */
bool sw_operations_persist(void);

/* Measure the chosen ones at each size of the plan; false when one was
 * wrong. */
bool sw_operations_measure(const char *chosen,
                           bool (*measure)(const sw_operation_t *operation,
                                           size_t size));

/* Do a cell's operation once and look at the result, on all ranks alike. The
 * cell's `what` is the operation. */
bool sw_operation_check(const sw_cell_t *cell, int way);

#endif
