/*
 * convert.h - into files of operations, and out of them: what the files of
 * convert_*.c, goal_*.c, smpi_*.c and vtime/extrapolate share.
 */
#ifndef SW_VTIME_FORMATS_CONVERT_H
#define SW_VTIME_FORMATS_CONVERT_H

#include "vtime/ops/file.h"

#include <stdio.h>

/* How. */
typedef struct {
    double flops;    /* SMPI: flop/s, 1e9 unless named */
    bool file_order; /* GOAL: what it leaves open is as written */
    /* GOAL: a partial order, even where one order is as good */
    bool graph;
    const char *algorithms[SW_COLLECTIVE_COUNT]; /* NULL: the first */
} sw_convert_t;

/* What came of it, for the report. */
typedef struct {
    uint64_t operations;
    /* Of a trace (convert_trace.c). */
    uint64_t calls, damaged;
    uint64_t outside; /* partners not in MPI_COMM_WORLD, or not known */
    uint64_t polls;   /* tests and probes, whose time is left out */
    /* of a trace, locks of several threads, and one- sided synchronisation of a
     * window that it does not tell; into other forms, what is one-sided */
    uint64_t unmodelled;
    uint64_t approximate; /* collectives taken as `other` */
    /* Of GOAL, of SMPI. */
    uint64_t expanded; /* collectives that became messages */
    uint64_t flags;    /* sends that were synchronous or buffered */
    uint64_t sections; /* changes of region, left out */
    uint64_t means;    /* collectives with blocks that differ: their mean */
} sw_converted_t;

/* False, and a sentence on stderr; the second names a line of a file. */
bool sw_convert_fail(const char *form, ...)
    __attribute__((format(printf, 1, 2)));
bool sw_convert_fail_at(const char *path, uint64_t line, const char *form,
                        const char *what);
/* A whole number with `unit` behind it ("": none). False: `text` is none. */
bool sw_convert_number(const char *text, const char *unit, uint64_t most,
                       uint64_t *to);

/* A file of operations. NULL, or false: a sentence says why. The close drops
 * the file where its operations are not `good`. */
sw_op_writer_t *sw_convert_writer(const char *out, uint32_t ranks,
                                  const char *note);
bool sw_convert_close(sw_op_writer_t *writer, bool good, const char *out);
/* A text, "-" being stdout. The close removes a file that is not whole;
 * `memory`: there was always some. */
FILE *sw_convert_open_text(const char *out);
bool sw_convert_close_text(FILE *to, bool memory, const char *out);

bool sw_trace_to_ops(const char *out, char **files, FILE *names,
                     sw_converted_t *done);
bool sw_goal_to_ops(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done);
bool sw_ops_to_goal(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done);
bool sw_smpi_to_ops(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done);
bool sw_ops_to_smpi(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done);
bool sw_ops_to_text(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done);

#endif
