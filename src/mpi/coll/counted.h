/*
 * counted.h - the calls of collectives so far, for --stats: a row of each
 * blocking collective, then of each nonblocking one, then of each call that
 * makes a persistent one.
 *
 * A row has those that were ours, those of ours that went over nodes, and the
 * host's by reason. Calls inside the host are not counted.
 */
#ifndef SW_MPI_COLL_COUNTED_H
#define SW_MPI_COLL_COUNTED_H

#include "call.h"

enum { SW_COUNTED_ROWS = SW_CALL_FORMS * SW_COLL_COUNT };
enum {
    SW_COUNTED_OURS,
    SW_COUNTED_OVER_NODES,
    SW_COUNTED_HOST,
    SW_COUNTED_ROW = SW_COUNTED_HOST + SW_REASON_COUNT
};

void sw_count_slow(int row, int column, int64_t by);
static inline void sw_count(const sw_coll_call_t *k, int column, int64_t by)
{
    if (sw_unlikely(sw_settings.stats))
        sw_count_slow((int)k->form * SW_COLL_COUNT + (int)k->id, column, by);
}

/* So many calls more are ours, ... */
static inline void sw_count_ours(const sw_coll_call_t *k, int64_t by)
{
    sw_count(k, SW_COUNTED_OURS, by);
}
/* ... of which one went over nodes, */
static inline void sw_count_over_nodes(const sw_coll_call_t *k)
{
    sw_count(k, SW_COUNTED_OVER_NODES, 1);
}
/* ... or one is the host's, for its reason. */
static inline void sw_count_host(const sw_coll_call_t *k)
{
    sw_count(k, SW_COUNTED_HOST + (int)k->reason, 1);
}

/* The host serves a call that was ours, after all. */
static inline void sw_count_declined(const sw_coll_call_t *k)
{
    sw_count_ours(k, -1);
    sw_count_host(k);
}

/* The ith row in the order of reports, and what it counts. */
int sw_counted_reported(int i);
void sw_counted_name(int row, char *to, size_t bytes);
void sw_counted(int64_t rows[SW_COUNTED_ROWS][SW_COUNTED_ROW]);

#endif
