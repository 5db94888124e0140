/*
 * span_way.c - see span_way.h.
 */
#include "span_way.h"

#include "roster.h"
#include "coll/span_names.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "node/os/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The built-in table ---------------------------------------------------- */

/* The largest size, in bytes, that goes by the leaders. `crowded`: where a node
 * has more ranks than cores. There the hosts' ranks keep the cores from each
 * other while they wait, and members that sleep win at nearly all sizes. Else
 * only what is small, where messages count and not bytes, is sure to win.
 *
 * Gatherv and Scatterv have no size that all know.
 */
typedef struct {
    size_t free, crowded;
} limits_t;

#define ALL SIZE_MAX
#define KIB ((size_t)1 << 10)
/* The hosts send large blocks to each other member directly, which costs no
 * copy: these win where they wait kindly, and from 512 KiB on anyway. */
#define LARGE (512 * KIB - 1)
#define LARGE_KINDLY (16 * KIB)

static const limits_t built_in[SW_COLL_COUNT] = {
    [SW_COLL_BARRIER] = {ALL, ALL},
    [SW_COLL_BCAST] = {256 * KIB, ALL},
    [SW_COLL_GATHER] = {8 * KIB, ALL},
    [SW_COLL_GATHERV] = {ALL, ALL},
    [SW_COLL_SCATTER] = {8 * KIB, ALL},
    [SW_COLL_SCATTERV] = {ALL, ALL},
    [SW_COLL_ALLGATHER] = {8 * KIB, ALL},
    [SW_COLL_ALLGATHERV] = {8 * KIB, ALL},
    [SW_COLL_ALLTOALL] = {KIB, LARGE},
    [SW_COLL_ALLTOALLV] = {KIB, LARGE},
    [SW_COLL_ALLTOALLW] = {KIB, LARGE},
    [SW_COLL_REDUCE] = {64 * KIB, ALL},
    [SW_COLL_ALLREDUCE] = {64 * KIB, ALL},
    [SW_COLL_REDUCE_SCATTER] = {32 * KIB, ALL},
    [SW_COLL_REDUCE_SCATTER_BLOCK] = {32 * KIB, ALL},
    [SW_COLL_SCAN] = {16 * KIB, ALL},
    [SW_COLL_EXSCAN] = {16 * KIB, ALL},
};

/* The collectives that have a lanes form. */
static const bool has_lanes[SW_COLL_COUNT] = {
    [SW_COLL_BCAST] = true,
    [SW_COLL_ALLGATHER] = true,
    [SW_COLL_ALLGATHERV] = true,
    [SW_COLL_ALLREDUCE] = true,
};

/* The tuned table ------------------------------------------------------- */

#define FILE_MAX ((size_t)1 << 20)

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static sw_span_table_t tuned;

/* The file's name, in `room`; false: the system names no home for it. */
static bool find_file(char *to, size_t room)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = 0;
    if (*sw_settings.ways)
        n = snprintf(to, room, "%s", sw_settings.ways);
    else if (config && *config)
        n = snprintf(to, room, "%s/straightway/ways", config);
    else if (home && *home)
        n = snprintf(to, room, "%s/.config/straightway/ways", home);
    return n > 0 && (size_t)n < room;
}

/* One rank speaks: most jobs have one file for all. */
#define SAY(...)                 \
    do {                         \
        if (sw_roster.rank == 0) \
            sw_say(__VA_ARGS__); \
    } while (0)

static void parse(const char *path, const char *text)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    char name[SW_SPAN_NAME], transport[SW_SPAN_NAME];
    int length;
    sw_span_fault_t fault;
    host.Get_library_version(version, &length);
    sw_span_name_host(version, name);
    sw_span_name_transport(name, transport);
    if (!sw_span_table_read(&tuned, text, name, transport, &fault))
        SAY("%s:%d: %s (the built-in table serves)", path, fault.line,
            fault.fix);
}

static void read_file(void)
{
    static char path[4096];
    char *text;
    if (!find_file(path, sizeof path) || !(text = malloc(FILE_MAX)))
        return;
    int n = sw_os_read_text(path, text, FILE_MAX);
    if (n >= (int)FILE_MAX - 1)
        SAY("%s is larger than %zu bytes: write it anew with straightway bench "
            "collectives --tune (the built-in table serves)",
            path, FILE_MAX);
    else if (n >= 0)
        parse(path, text);
    else if (*sw_settings.ways || (errno != ENOENT && errno != ENOTDIR))
        SAY("%s cannot be read (%s): name a file that straightway bench "
            "collectives --tune wrote (the built-in table serves)",
            path, strerror(errno));
    free(text);
}

uint64_t sw_span_ways_hash(void)
{
    pthread_once(&read_once, read_file);
    return tuned.hash;
}

/* The way ---------------------------------------------------------------- */

/* Lanes need nodes that all have as many members as the fullest. */
static sw_way_t able(sw_way_t way, sw_collective_t id, int ranks, int lanes)
{
    return way == SW_WAY_LANES &&
                   !(lanes == ranks && lanes > 1 && has_lanes[id])
               ? SW_WAY_LEADERS
               : way;
}

static sw_way_t built_in_way(sw_collective_t id, size_t bytes,
                             const sw_span_shape_t *shape)
{
    size_t limit = shape->crowded ? built_in[id].crowded : built_in[id].free;
    if (shape->crowded && !shape->spins && limit == LARGE)
        limit = LARGE_KINDLY;
    return limit && bytes <= limit ? SW_WAY_LEADERS : SW_WAY_HOST;
}

void sw_span_ways_fill(sw_span_ways_t *to, bool *any,
                       const sw_span_shape_t *shape)
{
    const sw_span_entry_t *entry = shape->tuned
                                       ? sw_span_table_find(
                                             &tuned, shape->nodes, shape->ranks)
                                       : NULL;
    for (int id = 0; id < SW_COLL_COUNT; id++) {
        any[id] = false;
        for (int c = 0; c < SW_SPAN_SIZES; c++) {
            sw_way_t way = entry ? (sw_way_t)entry->ways.way[id][c]
                                 : SW_WAY_UNSAID;
            size_t bytes = c ? (size_t)1 << (c - 1) : 0;
            to->way[id][c] = (uint8_t)(way == SW_WAY_UNSAID
                                           ? built_in_way((sw_collective_t)id,
                                                          bytes, shape)
                                           : able(way, (sw_collective_t)id,
                                                  shape->ranks, shape->lanes));
            any[id] |= to->way[id][c] != SW_WAY_HOST;
        }
    }
}

sw_way_t sw_span_way_forced(sw_collective_t id, int ranks, int lanes)
{
    int forced = atomic_load_explicit(&sw_forced_way, memory_order_relaxed);
    return able((sw_way_t)(forced - SW_FORCE_HOST), id, ranks, lanes);
}
