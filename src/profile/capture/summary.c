/*
 * summary.c - see summary.h.
 */
#include "summary.h"

#include "profile/base/job.h"
#include "profile/base/units.h"
#include "profile/record/clock.h"
#include "profile/record/recorder.h"
#include "profile/record/tracer.h"
#include "node/os/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 80
#define ROWS 5 /* procedures on the page */

/* By procedure, while rank 0 adds up; also each rank's own sums. */
static sw_summary_row_t sums[SW_JOB_PROCEDURES];

static struct {
    uint64_t ranks, last_node, wall, elapsed;
    double least, most; /* shares of communication */
    uint64_t least_rank, most_rank;
} all;

/* I/O, of a procedure that was called: other numbers may have no name. */
static bool is_file(const sw_summary_row_t *sum)
{
    const char *name = sw_job.procedures[sum->procedure];
    return !strncmp(name, "MPI_File_", 9) ||
           !strncmp(name, "MPI_Register_datarep", 20);
}

/* One rank ---------------------------------------------------------------- */

static double part_waited(double time, uint64_t waited, uint64_t probed)
{
    double waiting = time * (double)waited / (double)probed;
    return waiting < time ? waiting : time;
}

/* Call `row` for each record that has calls; returns the number of threads
 * that have one. */
static uint64_t each_record(void (*row)(const sw_record_t *))
{
    uint64_t threads = 0;
    for (const sw_recorder_t *r = sw_recorder_first(); r; r = r->next) {
        bool called = false;
        uint32_t size = __atomic_load_n(&r->records.size, __ATOMIC_ACQUIRE);
        _Atomic(sw_record_t *) *at = __atomic_load_n(&r->records.at,
                                                     __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < size; i++) {
            const sw_record_t *record = atomic_load_explicit(
                &at[i], memory_order_acquire);
            if (record && sw_record_seen(&record->calls)) {
                row(record);
                called = true;
            }
        }
        threads += called;
    }
    return threads;
}

static void add_record(const sw_record_t *r)
{
    sw_summary_row_t *sum = &sums[r->key.procedure];
    sum->calls += sw_record_seen(&r->calls);
    sum->errors += sw_record_seen(&r->errors);
    sum->time += sw_record_seen(&r->time);
    if (sw_record_seen(&r->probed)) {
        sum->probed += sw_record_seen(&r->probed);
        sum->waited += sw_record_seen(&r->waited);
    }
}

/* Once all records are in `sums`: a record at which no rank looked waits as the
 * procedure's others do on this rank. */
static void add_waiting(const sw_record_t *r)
{
    sw_summary_row_t *sum = &sums[r->key.procedure];
    uint64_t time = sw_record_seen(&r->time),
             probed = sw_record_seen(&r->probed);
    if (probed)
        sum->waiting += part_waited((double)time, sw_record_seen(&r->waited),
                                    probed);
    else if (sum->probed)
        sum->waiting += part_waited((double)time, sum->waited, sum->probed);
    else
        sum->unknown += time;
}

void sw_summary_make(sw_blob_t *to)
{
    memset(sums, 0, sizeof sums);
    uint64_t threads = each_record(add_record);
    each_record(add_waiting);
    uint64_t in_mpi = 0;
    sw_summary_row_t me = {.of = {.mark = SW_JOB_PROCEDURES,
                                  .rank = (uint64_t)sw_job.rank,
                                  .node = (uint64_t)sw_job.node_number,
                                  .wall = sw_clock_time(sw_job.stop) -
                                          sw_clock_time(sw_job.start)}};
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++) {
        sums[p].procedure = p;
        in_mpi += sums[p].time;
        if (sums[p].calls && !is_file(&sums[p]))
            me.of.communication += sums[p].time;
    }
    me.of.elapsed = sw_max(me.of.wall * sw_max(threads, 1u), in_mpi);
    sw_blob_put(to, &me, sizeof me);
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++)
        if (sums[p].calls)
            sw_blob_put(to, &sums[p], sizeof sums[p]);
    memset(sums, 0, sizeof sums);
}

/* All ranks --------------------------------------------------------------- */

static void add_rank(const sw_summary_row_t *row)
{
    double share = row->of.elapsed
                       ? (double)row->of.communication / (double)row->of.elapsed
                       : 0;
    if (!all.ranks || share < all.least) {
        all.least = share;
        all.least_rank = row->of.rank;
    }
    if (!all.ranks || share >= all.most) {
        all.most = share;
        all.most_rank = row->of.rank;
    }
    all.ranks++;
    all.last_node = sw_max(all.last_node, row->of.node);
    all.wall = sw_max(all.wall, row->of.wall);
    all.elapsed += row->of.elapsed;
}

void sw_summary_add(const sw_summary_row_t *rows, size_t count)
{
    for (; count; rows++, count--) {
        if (rows->procedure >= SW_JOB_PROCEDURES) {
            add_rank(rows);
            continue;
        }
        sw_summary_row_t *sum = &sums[rows->procedure];
        sum->calls += rows->calls;
        sum->errors += rows->errors;
        sum->time += rows->time;
        sum->waiting += rows->waiting;
        sum->unknown += rows->unknown;
        sum->probed += rows->probed;
        sum->waited += rows->waited;
    }
}

/* The page ---------------------------------------------------------------- */

static void put(sw_blob_t *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(sw_blob_t *page, const char *format, ...)
{
    char line[2 * WIDTH];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sw_blob_text(page, line);
}

/* The command as the user wrote it, but for a path before its name. */
static void put_command(char *to, size_t room)
{
    const char *at = sw_job.arguments;
    const char *end = at + sw_job.arguments_bytes;
    const char *slash = strrchr(at, '/'), *name = slash ? slash + 1 : at;
    /* An interpreter's first argument names the program. */
    bool script = !strncmp(name, "python", 6) && strcmp(name, sw_job.program);
    size_t n = script ? 0 : (size_t)snprintf(to, room, "%s", sw_job.program);
    for (at += strlen(at) + 1; at < end && n < room; at += strlen(at) + 1)
        n += (size_t)snprintf(to + n, room - n, "%s%s", n ? " " : "", at);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = '?';
}

static void put_head(sw_blob_t *page)
{
    char command[WIDTH + 1] = "", right[WIDTH];
    put_command(command, sizeof command);
    uint64_t nodes = all.last_node + 1;
    int n = snprintf(right, sizeof right, "%s rank%s on %s node%s, %s",
                     sw_units_number((uint64_t)sw_job.ranks).text,
                     sw_job.ranks == 1 ? "" : "s", sw_units_number(nodes).text,
                     nodes == 1 ? "" : "s",
                     sw_units_duration((double)all.wall).text);
    int room = WIDTH - 2 - n;
    put(page, "\n%-*.*s  %s\n", room, room, command, right);
}

static void put_cost(sw_blob_t *page)
{
    double elapsed = all.elapsed ? (double)all.elapsed : 1;
    double waiting = 0;
    uint64_t time = 0, files = 0;
    bool any_file = false;
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++) {
        if (!sums[p].calls)
            continue;
        if (is_file(&sums[p])) {
            files += sums[p].time;
            any_file = true;
        } else {
            time += sums[p].time;
            waiting += sums[p].waiting;
        }
    }
    char first[2 * WIDTH], rest[WIDTH], files_too[WIDTH] = "";
    int n = snprintf(first, sizeof first,
                     "Communication %s of the time: "
                     "waiting %s, moving %s;",
                     sw_units_share((double)time / elapsed).text,
                     sw_units_share(waiting / elapsed).text,
                     sw_units_share(((double)time - waiting) / elapsed).text);
    if (any_file)
        snprintf(files_too, sizeof files_too, "; I/O %s",
                 sw_units_share((double)files / elapsed).text);
    n += snprintf(
        rest, sizeof rest, "compute %s%s.",
        sw_units_share(((double)all.elapsed - (double)(time + files)) / elapsed)
            .text,
        files_too);
    put(page, "%s%c%s\n", first, n < WIDTH ? ' ' : '\n', rest);
    if (all.ranks > 1)
        put(page,
            "Communication of a rank: %s (rank %llu) to %s (rank %llu)"
            "\n",
            sw_units_share(all.least).text, (unsigned long long)all.least_rank,
            sw_units_share(all.most).text, (unsigned long long)all.most_rank);
}

static void put_row(sw_blob_t *page, const sw_summary_row_t *sum)
{
    double time = (double)sum->time;
    put(page, "%-31.31s %9s %8s %8s %9s %9s\n",
        sw_job.procedures[sum->procedure],
        sw_units_duration(time / (double)all.ranks).text,
        all.elapsed ? sw_units_share(time / (double)all.elapsed).text : "",
        sum->time ? sw_units_share(sum->waiting / time).text : "",
        sw_units_number(sum->calls).text,
        sw_units_duration(time / (double)sum->calls).text);
}

/* Takes the procedure with the most time out of the sums. */
static sw_summary_row_t take_most(void)
{
    sw_summary_row_t *most = &sums[0];
    for (uint64_t p = 1; p < SW_JOB_PROCEDURES; p++)
        if (sums[p].calls && (!most->calls || sums[p].time > most->time))
            most = &sums[p];
    sw_summary_row_t found = *most;
    most->calls = 0;
    return found;
}

static void put_operations(sw_blob_t *page)
{
    uint64_t errors = 0, left = 0;
    put(page, "\n%-31s %9s %8s %8s %9s %9s\n", "Time per rank, on average",
        "time", "of run", "waiting", "calls", "mean");
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++) {
        errors += sums[p].errors;
        left += sums[p].calls > 0;
    }
    for (int i = 0; i < ROWS && left; i++, left--) {
        sw_summary_row_t most = take_most();
        put_row(page, &most);
    }
    if (left)
        put(page, "and %llu more\n", (unsigned long long)left);
    if (errors)
        put(page, "%s call%s returned an error.\n",
            sw_units_number(errors).text, errors == 1 ? "" : "s");
}

/* What a rank could not look at waits as the procedure does on all ranks. */
static void estimate(void)
{
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++) {
        sums[p].procedure = p;
        if (sums[p].probed)
            sums[p].waiting += part_waited((double)sums[p].unknown,
                                           sums[p].waited, sums[p].probed);
    }
}

void sw_summary_print(const char *path)
{
    sw_blob_t page = {0};
    bool any = false;
    estimate();
    for (uint64_t p = 0; p < SW_JOB_PROCEDURES; p++)
        any |= sums[p].calls > 0;
    put_head(&page);
    put_cost(&page);
    if (any)
        put_operations(&page);
    else
        put(&page, "No MPI call was recorded between MPI_Init and "
                   "MPI_Finalize.\n");
    /* Users copy a path: no width cuts it. */
    const char *const more[][2] = {{"Call sites and findings", ""},
                                   {"In a browser", " --html"},
                                   {"Each call", " --perfetto"}};
    put(&page, "\n");
    for (int i = 0; i < (sw_tracing ? 3 : 2); i++) {
        put(&page, "%s: straightway report ", more[i][0]);
        sw_blob_text(&page, path);
        put(&page, "%s\n", more[i][1]);
    }
    sw_os_write_all(STDERR_FILENO, page.at, page.size);
    sw_blob_free(&page);
}
