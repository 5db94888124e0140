/*
 * ways_file.c - see ways_file.h.
 */
#include "ways_file.h"

#include "roster.h"
#include "coll/span_names.h"
#include "node/base/settings.h"
#include "node/os/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most files are short, and a block of the arena would stay for reuse. */
#define FEW ((size_t)16 << 10)
#define FILE_MAX ((size_t)1 << 20)

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static sw_ways_table_t over_nodes, near;

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
    char machine[SW_OS_MACHINE];
    int length;
    sw_ways_fault_t fault;
    host.Get_library_version(version, &length);
    sw_span_name_host(version, name);
    sw_span_name_transport(name, transport);
    sw_os_machine(machine);
    sw_ways_key_t far = {name, transport, NULL};
    sw_ways_key_t here = {name, SW_WAYS_SHM, machine};
    /* Each reads all lines: the second finds no fault but the first's. */
    if (!sw_ways_read(&over_nodes, text, &far, &fault) ||
        !sw_ways_read(&near, text, &here, &fault)) {
        sw_ways_drop(&over_nodes);
        SAY("%s:%d: %s (the built-in table serves)", path, fault.line,
            fault.fix);
    }
}

/* The file's text, of *n bytes; *n is -1, with errno, where it cannot be read.
 * NULL: no memory. */
static char *read_text(const char *path, int *n)
{
    char *text = NULL;
    for (size_t room = FEW;; room *= 4) {
        char *more = realloc(text, room);
        if (!more) {
            free(text);
            return NULL;
        }
        text = more;
        *n = sw_os_read_text(path, text, room);
        if (*n < (int)room - 1 || room >= FILE_MAX)
            return text;
    }
}

static void read_file(void)
{
    static char path[4096];
    int n;
    char *text = find_file(path, sizeof path) ? read_text(path, &n) : NULL;
    if (!text)
        return;
    if (n >= (int)FILE_MAX - 1)
        SAY("%s is larger than %zu bytes: remove it, and write it anew with "
            "straightway tune (the built-in table serves)",
            path, FILE_MAX);
    else if (n >= 0)
        parse(path, text);
    else if (*sw_settings.ways || (errno != ENOENT && errno != ENOTDIR))
        SAY("%s cannot be read (%s): name a file that straightway tune wrote "
            "(the built-in table serves)",
            path, strerror(errno));
    free(text);
}

const sw_ways_table_t *sw_ways_over_nodes(void)
{
    pthread_once(&read_once, read_file);
    return &over_nodes;
}

const sw_ways_table_t *sw_ways_near(void)
{
    pthread_once(&read_once, read_file);
    return &near;
}
