/*
 * span_ways.h - how a collective goes over several nodes, and the file that
 * says which way wins.
 *
 *   host      the host's own, on the program's communicator
 *   leaders   team, then the leaders (lane 0), then team
 *   lanes     each member drives its own lane with a slice of the data
 *
 * `straightway bench collectives --tune` measures the ways and writes the file.
 * It has an entry for each host, transport and shape of a job:
 *
 *   straightway ways 1
 *   # what stands behind a # is for readers
 *   [openmpi-5.0.11 tcp nodes=2 ranks=4]
 *   bcast 0:leaders 65536:lanes 4194304:host
 *
 * `ranks` is that of each node, of the fullest one. In a collective's line each
 * word gives a size in bytes, and the way from that size on; the first size is
 * 0, and sizes grow. The bytes are those that all members know by the signature
 * (mpi/coll asks with them). A class of sizes goes the way of its smallest.
 * Collectives without a line go as the built-in table says.
 *
 * A communicator uses the entry of its host and transport that has at most its
 * nodes and its ranks on a node: of these the one with most nodes, then most
 * ranks. Without such an entry the built-in table serves.
 *
 * A file with a mistake serves nothing.
 */
#ifndef SW_COLL_SPAN_WAYS_H
#define SW_COLL_SPAN_WAYS_H

#include "coll.h"

typedef enum {
    SW_WAY_HOST,
    SW_WAY_LEADERS,
    SW_WAY_LANES,
    SW_WAY_COUNT
} sw_way_t;

#define SW_WAY_UNSAID SW_WAY_COUNT
#define SW_SPAN_SIZES 32 /* classes: 0 bytes, 1, 2-3, 4-7, ... */

typedef struct {
    uint8_t way[SW_COLL_COUNT][SW_SPAN_SIZES];
} sw_span_ways_t;

static inline unsigned sw_span_class(size_t bytes)
{
    unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return bits < SW_SPAN_SIZES ? bits : SW_SPAN_SIZES - 1;
}

/* Where an entry's lines are silent, the way is SW_WAY_UNSAID. */
typedef struct {
    int nodes, ranks;
    sw_span_ways_t ways;
} sw_span_entry_t;

/* The entries of one host and transport. */
typedef struct {
    sw_span_entry_t *entry;
    int entries;
    uint64_t hash; /* of all entries; 0: there are none */
} sw_span_table_t;

/* What is wrong with a file: its line, and the fix (static text). */
typedef struct {
    int line;
    const char *fix;
} sw_span_fault_t;

/* Reads a file's text, and takes the entries of a host and transport. False:
 * the file has a mistake, and the table is empty. */
SW_API bool sw_span_table_read(sw_span_table_t *to, const char *text,
                               const char *host, const char *transport,
                               sw_span_fault_t *fault);
SW_API void sw_span_table_drop(sw_span_table_t *table);

/* The entry for so many nodes and ranks on a node, or NULL. */
SW_API const sw_span_entry_t *sw_span_table_find(const sw_span_table_t *table,
                                                 int nodes, int ranks);

#endif
