/*
 * ways.h - how a collective goes, and the file that says which way wins.
 *
 * Over several nodes:
 *
 *   host      the host's own, on the program's communicator
 *   leaders   team, then the leaders (lane 0), then team
 *   lanes     each member drives its own lane with a slice of the data
 *
 * On one node: host, or ours. `straightway tune` measures these, and
 * `straightway bench collectives --tune` those over nodes. The file has an
 * entry for each host, transport and shape of a job; those of one node have the
 * transport "shm" and name their machine:
 *
 *   straightway ways 1
 *   # what stands behind a # is for readers
 *   [openmpi-5.0.11 tcp nodes=2 ranks=4]
 *   bcast 0:leaders 65536:lanes 4194304:host
 *   [openmpi-5.0.11 shm nodes=1 ranks=4 machine=5f0c1a22]
 *   gather 0:ours 4194304:host
 *   iallreduce 0:ours 65536:host
 *   bcast_init 0:host
 *   eager_max 16384
 *
 * `ranks` is that of each node, of the fullest one. In a collective's line each
 * word gives a size in bytes, and the way from that size on; the first size is
 * 0, and sizes grow. The bytes are those that all members know by the signature
 * (mpi/coll asks with them). A class of sizes goes the way of its smallest.
 * Collectives without a line go as the built-in table says.
 *
 * An entry of one node has lines for nonblocking collectives (iallreduce) and
 * persistent ones (allreduce_init), too, and for settings (SW_WAYS_SETTINGS).
 *
 * Over nodes a communicator uses the entry that has at most its nodes and its
 * ranks on a node: of these the one with most nodes, then most ranks. On one
 * node the ranks must be as many, since what wins changes with each. Without
 * such an entry the built-in table serves.
 *
 * A file with a mistake serves nothing.
 */
#ifndef SW_COLL_WAYS_H
#define SW_COLL_WAYS_H

#include "coll.h"

typedef enum {
    SW_WAY_HOST,
    SW_WAY_LEADERS,
    SW_WAY_LANES,
    SW_WAY_OURS,
    SW_WAY_COUNT
} sw_way_t;

#define SW_WAY_UNSAID SW_WAY_COUNT
#define SW_WAYS_SIZES 32 /* classes: 0 bytes, 1, 2-3, 4-7, ... */
#define SW_WAYS_SHM "shm"

/* Blocking, nonblocking and persistent collectives. */
enum { SW_WAYS_FORMS = 3 };

typedef struct {
    uint8_t way[SW_COLL_COUNT][SW_WAYS_SIZES];
} sw_ways_t;

static inline unsigned sw_ways_class(size_t bytes)
{
    unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return bits < SW_WAYS_SIZES ? bits : SW_WAYS_SIZES - 1;
}

/* The settings in bytes that a file may give: field and NAME of settings.def.
 */
#define SW_WAYS_SETTINGS(X)   \
    X(p2p_min, P2P_MIN)       \
    X(p2p_joint, P2P_JOINT)   \
    X(stream_min, STREAM_MIN) \
    X(eager_max, EAGER_MAX)   \
    X(slice_min, SLICE_MIN)   \
    X(show_after, SHOW_AFTER)

enum {
#define X(field, NAME) SW_WAYS_##NAME,
    SW_WAYS_SETTINGS(X)
#undef X
        SW_WAYS_SETTING_COUNT
};

#define SW_WAYS_NO_SETTING UINT64_MAX

/* Where an entry's lines are silent, the way is SW_WAY_UNSAID, and a setting
 * SW_WAYS_NO_SETTING. */
typedef struct {
    int nodes, ranks;
    uint64_t setting[SW_WAYS_SETTING_COUNT];
    sw_ways_t form[SW_WAYS_FORMS];
} sw_ways_entry_t;

/* Whose entries are wanted. */
typedef struct {
    const char *host, *transport;
    const char *machine; /* NULL: entries that name none */
} sw_ways_key_t;

typedef struct {
    sw_ways_entry_t *entry;
    int entries;
    uint64_t hash; /* of all entries; 0: there are none */
} sw_ways_table_t;

/* What is wrong with a file: its line, and the fix (static text). */
typedef struct {
    int line;
    const char *fix;
} sw_ways_fault_t;

/* Reads a file's text, and takes the entries of the key. False: the file has a
 * mistake, and the table is empty. */
SW_API bool sw_ways_read(sw_ways_table_t *to, const char *text,
                         const sw_ways_key_t *key, sw_ways_fault_t *fault);
SW_API void sw_ways_drop(sw_ways_table_t *table);

/* The entry for so many nodes and ranks on a node, or NULL. */
SW_API const sw_ways_entry_t *sw_ways_find(const sw_ways_table_t *table,
                                           int nodes, int ranks);

/* The entry of one node with just so many ranks, or NULL. */
SW_API const sw_ways_entry_t *sw_ways_find_near(const sw_ways_table_t *table,
                                                int ranks);

#endif
