/*
 * perfetto.h - a trace as the Perfetto UI reads it.
 *
 * Ranks become processes, threads their tracks, calls slices on them. A call
 * that waited for a partner begins with a slice "waiting". A message is a flow
 * from the beginning of the call that sent it to the end of the one with which
 * it had come; the members of a collective are one flow in the order in which
 * they came. What a call was about is told by its annotations.
 *
 * The output is a `Trace` of perfetto/trace/trace.proto. Each thread is one
 * sequence of packets, with strings of its own: each is told when it is first
 * needed. So one thread's blocks may lie anywhere among those of others, and
 * nothing is kept of events that were written.
 */
#ifndef SW_TRACE_PERFETTO_H
#define SW_TRACE_PERFETTO_H

#include "names.h"
#include "proto.h"
#include "reader.h"

typedef struct {
    sw_names_t *names;
    sw_proto_t out;
    uint64_t events;
    uint64_t unnamed; /* of these, without a record that is known */
    uint32_t sequences;
    uint32_t file;
} sw_perfetto_t;

/* Writes to `fd`. */
void sw_perfetto_begin(sw_perfetto_t *p, sw_names_t *names, int fd);
/* All that the next file has of ranks whose trace is there. False:
 * p->out.error or reader->error. */
bool sw_perfetto_add(sw_perfetto_t *p, sw_trace_reader_t *reader);
/* False: p->out.error. */
bool sw_perfetto_end(sw_perfetto_t *p);
void sw_perfetto_free(sw_perfetto_t *p);

#endif
