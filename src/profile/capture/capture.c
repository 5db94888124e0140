/*
 * capture.c - see capture.h.
 */
#include "capture.h"

#include "profile/record/catalog.h"
#include "profile/record/clock.h"
#include "columns.h"
#include "profile/base/job.h"
#include "profile/record/recorder.h"
#include "profile/record/region.h"
#include "sites.h"
#include "where.h"
#include "node/base/crc.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#ifndef SW_VERSION
#define SW_VERSION "unknown"
#endif

/* Lists ------------------------------------------------------------------- */

static void list_ranks(sw_blob_t *text, const char *name, const int32_t *ranks,
                       uint32_t n)
{
    sw_blob_text(text, name);
    for (uint32_t i = 0; i < n; i++) {
        if (ranks[i] < 0)
            sw_blob_text(text, "-1");
        else
            sw_blob_number(text, (uint64_t)ranks[i]);
        sw_blob_text(text, ", ");
    }
    sw_blob_close(text, "], ");
}

static void list_communicators(sw_blob_t *text)
{
    uint32_t n = sw_catalog_count(SW_CATALOG_COMMUNICATORS);
    sw_blob_text(text, "\"communicators\": [null, ");
    for (uint32_t i = 1; i <= n; i++) {
        const sw_catalog_entry_t *e = sw_catalog(SW_CATALOG_COMMUNICATORS, i);
        sw_blob_text(text, "{");
        sw_blob_named_string(text, "name", e->name);
        sw_blob_text(text, "\"id\": \"");
        sw_blob_hex(text, e->id);
        sw_blob_text(text, "\", ");
        sw_blob_named(text, "size", e->size);
        sw_blob_named(text, "rank", (uint64_t)e->rank);
        sw_blob_named(text, "remote_size", (uint64_t)e->remote_size);
        if (e->ranges) {
            sw_blob_text(text, "\"members\": [");
            for (uint32_t r = 0; r < e->ranges; r++) {
                sw_blob_text(text, "[");
                sw_blob_number(text, (uint64_t)e->members[2 * r]);
                sw_blob_text(text, ", ");
                sw_blob_number(text, (uint64_t)e->members[2 * r + 1]);
                sw_blob_text(text, "], ");
            }
            sw_blob_close(text, "], ");
        }
        const sw_catalog_neighbours_t *near = e->neighbours;
        if (near) {
            list_ranks(text, "\"sources\": [", near->rank, near->ins);
            list_ranks(text, "\"destinations\": [", near->rank + near->ins,
                       near->outs);
        }
        sw_blob_close(text, "}, ");
    }
    sw_blob_close(text, "], ");
}

static void list_types(sw_blob_t *text)
{
    uint32_t n = sw_catalog_count(SW_CATALOG_DATATYPES);
    sw_blob_text(text, "\"datatypes\": [null, ");
    for (uint32_t i = 1; i <= n; i++) {
        const sw_catalog_entry_t *e = sw_catalog(SW_CATALOG_DATATYPES, i);
        sw_blob_text(text, "{");
        sw_blob_named_string(text, "name", e->name);
        sw_blob_named(text, "size", e->size);
        sw_blob_close(text, "}, ");
    }
    sw_blob_close(text, "], \"operations\": [null, ");
    n = sw_catalog_count(SW_CATALOG_OPERATIONS);
    for (uint32_t i = 1; i <= n; i++) {
        sw_blob_string(text, sw_catalog(SW_CATALOG_OPERATIONS, i)->name);
        sw_blob_text(text, ", ");
    }
    sw_blob_close(text, "], ");
}

static void list_regions(sw_blob_t *text)
{
    uint32_t n = sw_region_count();
    uint64_t now = sw_clock_ticks();
    sw_blob_text(text, "\"regions\": [{\"name\": \"\", \"entered\": 0, "
                       "\"time\": 0}, ");
    for (uint32_t i = 1; i < n; i++) {
        const sw_region_t *r = sw_region(i);
        uint64_t since = sw_record_seen(&r->since),
                 ticks = sw_record_seen(&r->ticks);
        if (since)
            ticks += now - since;
        sw_blob_text(text, "{");
        sw_blob_named_string(text, "name", r->name);
        sw_blob_named(text, "entered", sw_record_seen(&r->entered));
        sw_blob_named(text, "time", sw_clock_ns(ticks));
        sw_blob_close(text, "}, ");
    }
    sw_blob_close(text, "], ");
}

static void list_job(sw_blob_t *text)
{
    const sw_job_t *j = &sw_job;
    sw_blob_text(text, "\"job\": {");
    sw_blob_named_string(text, "program", j->program);
    sw_blob_text(text, "\"arguments\": [");
    const char *at = j->arguments, *end = at + j->arguments_bytes;
    for (at += strlen(at) + 1; at < end; at += strlen(at) + 1) {
        sw_blob_string(text, at);
        sw_blob_text(text, ", ");
    }
    sw_blob_close(text, "], ");
    sw_blob_named_string(text, "id", j->id);
    sw_blob_named(text, "ranks", (uint64_t)j->ranks);
    sw_blob_named(text, "began", j->began);
    sw_blob_named_string(text, "mpi", j->mpi);
    sw_blob_named_string(text, "mpi_library", j->library);
    sw_blob_named_string(text, "flavour", j->flavour);
    sw_blob_text(text, "\"accelerated\": ");
    sw_blob_text(text, j->accelerated ? "true, " : "false, ");
    sw_blob_named(text, "stack_depth", (uint64_t)sw_settings.stack_depth);
    sw_blob_close(text, "}, ");
}

static void list_trace(sw_blob_t *text)
{
    const char *stopped = sw_tracer_sums.stopped;
    sw_blob_text(text, "\"trace\": {");
    sw_blob_named(text, "events", sw_record_seen(&sw_tracer_sums.events));
    sw_blob_named(text, "bytes", sw_record_seen(&sw_tracer_sums.bytes));
    sw_blob_named(text, "lost", sw_record_seen(&sw_tracer_sums.lost));
    if (stopped)
        sw_blob_named_string(text, "stopped", stopped);
    sw_blob_close(text, "}, ");
}

static void list_matched(sw_blob_t *text)
{
    sw_job_matched_t m = {0};
    if (sw_job_matched)
        sw_job_matched(&m);
    if (!m.messages)
        return;
    sw_blob_text(text, "\"matched\": {");
    sw_blob_named(text, "messages", m.messages);
    sw_blob_named(text, "early", m.early);
    sw_blob_named(text, "early_bytes", m.early_bytes);
    sw_blob_named(text, "waiting_most", m.waiting_most);
    sw_blob_named(text, "posted_most", m.posted_most);
    sw_blob_close(text, "}, ");
}

static void list_rank(sw_blob_t *text, sw_end_t end, int signal)
{
    static const char *const ends[] = {"finalize", "abort", "exit", "signal",
                                       "exec"};
    const sw_job_t *j = &sw_job;
    uint64_t stop = j->stop ? j->stop : sw_clock_ticks();
    sw_blob_named_string(text, "straightway", SW_VERSION);
    sw_blob_named(text, "rank", (uint64_t)j->rank);
    list_job(text);
    sw_blob_named_string(text, "node", j->node);
    sw_blob_named(text, "pid", (uint64_t)j->pid);
    sw_blob_named(text, "thread_level", (uint64_t)j->thread_level);
    sw_blob_named(text, "processors", (uint64_t)j->processors);
    sw_blob_named(text, "node_processors", (uint64_t)j->node_processors);
    sw_blob_named(text, "node_ranks", (uint64_t)j->node_ranks);
    sw_blob_named(text, "node_number", (uint64_t)j->node_number);
    sw_where_put(text);
    sw_blob_named_string(text, "end", ends[end]);
    if (end == SW_END_SIGNAL)
        sw_blob_named(text, "signal", (uint64_t)signal);
    sw_blob_named(text, "start", sw_clock_time(j->start));
    sw_blob_named(text, "stop", sw_clock_time(stop));
    sw_blob_named(text, "init_time", sw_clock_ns(j->init_ticks));
    sw_blob_named(text, "cpu", sw_job_cpu() - j->cpu_before);
    sw_blob_named(text, "own_call_cost", j->own_cost);
    sw_blob_named(text, "folded", sw_record_seen(&sw_recorder_folded));
    sw_blob_named(text, "start_ticks", j->start);
    sw_blob_named(text, "stop_ticks", stop);
    sw_blob_named(text, "epoch", sw_job_epoch());
    list_matched(text);
    if (sw_tracing)
        list_trace(text);
}

/* Rows -------------------------------------------------------------------- */

/* Procedures that were called, by new numbers. */
typedef struct {
    uint16_t number[SW_JOB_PROCEDURES];
    uint16_t count;
} procedures_t;

static void call_row(sw_columns_t *calls, sw_columns_t *times,
                     procedures_t *procedures, const sw_recorder_t *recorder,
                     const sw_record_t *r)
{
    uint64_t n = sw_record_seen(&r->calls);
    if (!n)
        return;
    uint16_t *procedure = &procedures->number[r->key.procedure];
    if (!*procedure)
        *procedure = ++procedures->count;
    const uint64_t row[] = {
        recorder->number,
        *procedure,
        r->key.site,
        r->key.communicator,
        r->key.datatype,
        r->key.operation,
        r->key.region,
        r->key.bin,
        r->key.root,
        n,
        sw_record_seen(&r->errors),
        sw_record_seen(&r->time),
        sw_record_seen(&r->shortest),
        sw_record_seen(&r->longest),
        sw_record_seen(&r->sent),
        sw_record_seen(&r->received),
        sw_record_seen(&r->smallest),
        sw_record_seen(&r->largest),
        atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&r->number,
                             memory_order_relaxed),
        sw_record_seen(&r->probed),
        sw_record_seen(&r->waited),
        sw_record_seen(&r->showing),
        sw_record_seen(&r->shown_again),
        sw_record_seen(&r->sent_between),
        sw_record_seen(&r->received_between),
        sw_record_seen(&r->device_calls),
        sw_record_seen(&r->device_sent),
        sw_record_seen(&r->device_received),
        sw_record_seen(&r->device_pieces),
        r->key.side};
    for (uint64_t b = 0; b < SW_RECORD_BUCKETS; b++) {
        uint32_t count = atomic_load_explicit(
            (_Atomic uint32_t *)(uintptr_t)&r->times[b], memory_order_relaxed);
        const uint64_t bucket[] = {calls->count, b, count};
        if (count)
            sw_columns_row(times, bucket);
    }
    sw_columns_row(calls, row);
}

static void recorder_rows(sw_columns_t *calls, sw_columns_t *times,
                          procedures_t *procedures, const sw_recorder_t *r)
{
    uint32_t size = __atomic_load_n(&r->records.size, __ATOMIC_ACQUIRE);
    _Atomic(sw_record_t *) *at = __atomic_load_n(&r->records.at,
                                                 __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < size; i++) {
        const sw_record_t *record = atomic_load_explicit(&at[i],
                                                         memory_order_acquire);
        if (record)
            call_row(calls, times, procedures, r, record);
    }
}

/* The sums of all threads. */
static void peer_rows(sw_columns_t *table)
{
    for (uint64_t kind = 0; kind < SW_PEERS_KINDS; kind++)
        for (uint64_t peer = 0; peer < sw_peers_ranks; peer++) {
            uint64_t row[6] = {kind, peer};
            for (const sw_recorder_t *r = sw_recorder_first(); r; r = r->next) {
                const sw_peer_sum_t *of = __atomic_load_n(&r->peers.of[kind],
                                                          __ATOMIC_ACQUIRE);
                if (!of)
                    continue;
                row[2] += sw_record_seen(&of[peer].sent_messages);
                row[3] += sw_record_seen(&of[peer].sent_bytes);
                row[4] += sw_record_seen(&of[peer].received_messages);
                row[5] += sw_record_seen(&of[peer].received_bytes);
            }
            if (row[2] || row[4])
                sw_columns_row(table, row);
        }
}

static void list_procedures(sw_blob_t *text, const procedures_t *procedures)
{
    sw_blob_text(text, "\"procedures\": [null, ");
    for (unsigned i = 1; i <= procedures->count; i++)
        for (unsigned p = 0; p < SW_JOB_PROCEDURES; p++)
            if (procedures->number[p] == i) {
                sw_blob_string(text, sw_job.procedures[p]);
                sw_blob_text(text, ", ");
                break;
            }
    sw_blob_close(text, "], ");
}

static void put_calls(sw_blob_t *text, sw_blob_t *tables, sw_blob_t *columns)
{
    static const char *const call_names[] = {"thread",
                                             "procedure",
                                             "site",
                                             "communicator",
                                             "datatype",
                                             "operation",
                                             "region",
                                             "size_bin",
                                             "root",
                                             "calls",
                                             "errors",
                                             "time",
                                             "min_time",
                                             "max_time",
                                             "sent",
                                             "received",
                                             "min_size",
                                             "max_size",
                                             "record",
                                             "probed",
                                             "waited",
                                             "showing",
                                             "shown_again",
                                             "sent_between",
                                             "received_between",
                                             "device_calls",
                                             "device_sent",
                                             "device_received",
                                             "device_pieces",
                                             "side",
                                             NULL};
    static const char *const time_names[] = {"record", "bucket", "count", NULL};
    static const char *const peer_names[] = {"kind",
                                             "peer",
                                             "sent_messages",
                                             "sent_bytes",
                                             "received_messages",
                                             "received_bytes",
                                             NULL};
    procedures_t procedures = {.count = 0};
    sw_columns_t calls = sw_columns_begin(tables, columns, call_names);
    sw_columns_t times = sw_columns_begin(tables, columns, time_names);
    sw_columns_t peers = sw_columns_begin(tables, columns, peer_names);
    for (const sw_recorder_t *r = sw_recorder_first(); r; r = r->next)
        recorder_rows(&calls, &times, &procedures, r);
    peer_rows(&peers);
    sw_columns_end(&calls, "calls");
    sw_columns_end(&times, "times");
    sw_columns_end(&peers, "peers");
    list_procedures(text, &procedures);
}

/* The block --------------------------------------------------------------- */

bool sw_capture_block(sw_end_t end, int signal, sw_blob_t *to)
{
    sw_blob_t text = {0}, tables = {0}, columns = {0};
    sw_blob_text(&text, "{");
    list_rank(&text, end, signal);
    put_calls(&text, &tables, &columns);
    sw_capture_sites(&text, &tables, &columns);
    list_communicators(&text);
    list_types(&text);
    list_regions(&text);
    sw_blob_text(&text, "\"tables\": [");
    sw_blob_close(&tables, "]}");
    sw_blob_put(&text, tables.at, tables.size);

    char head[SW_CAPTURE_HEAD], length[4];
    sw_capture_number(length, text.size, sizeof length);
    uint32_t crc = sw_crc32(0, length, sizeof length);
    crc = sw_crc32(crc, text.at, text.size);
    crc = sw_crc32(crc, columns.at, columns.size);
    sw_capture_head(head, "RANK", crc,
                    sizeof length + text.size + columns.size);
    *to = (sw_blob_t){0};
    sw_blob_put(to, head, sizeof head);
    sw_blob_put(to, length, sizeof length);
    sw_blob_put(to, text.at, text.size);
    sw_blob_put(to, columns.at, columns.size);
    to->lost = to->lost || text.lost || tables.lost || columns.lost;
    sw_blob_free(&text);
    sw_blob_free(&tables);
    sw_blob_free(&columns);
    return !to->lost;
}
