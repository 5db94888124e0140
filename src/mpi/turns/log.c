/*
 * log.c - see log.h.
 */
#include "log.h"

#include "mpi/base/roster.h"
#include "node/base/grow.h"
#include "node/base/settings.h"
#include "node/os/os.h"
#include "profile/base/blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows that travel at a time. */
#define PIECE 256u

bool sw_log_make_room(sw_log_t *log, bool first)
{
    if (log->count == log->room && sw_os_refused(SW_DOOR_HEAP))
        return false;
    return sw_grow(&log->times, log->count, &log->room, sizeof *log->times) &&
           (!first || sw_grow(&log->epoch, log->count, &log->epoch_room,
                              sizeof *log->epoch));
}

void sw_log_end(sw_log_t *log)
{
    free(log->times);
    free(log->epoch);
    *log = (sw_log_t){0};
}

static void put_signed(sw_blob_t *to, int64_t n)
{
    if (n < 0)
        sw_blob_text(to, "-");
    sw_blob_number(to, (uint64_t)(n < 0 ? -n : n));
    sw_blob_text(to, ", ");
}

static void put_head(sw_blob_t *to, const sw_log_head_t *h)
{
    sw_blob_text(to, "{");
    sw_blob_named_string(to, "schema", "straightway-turns/1");
    sw_blob_named(to, "ranks", (uint64_t)sw_roster.ranks);
    sw_blob_named_string(to, "state", h->state);
    sw_blob_named(to, "began_ns", h->began);
    sw_blob_named(to, "ended_ns", h->ended);
    sw_blob_text(to, "\"seed\": \"");
    sw_blob_hex(to, h->seed);
    sw_blob_text(to, sw_settings.turns_same ? "\", \"same\": true, "
                                            : "\", \"same\": false, ");
    sw_blob_named(to, "calls", h->calls);
    sw_blob_named(to, "period", h->period);
    sw_blob_named_string(to, "messages", h->messages);
    sw_blob_named_string(to, "messages_why", h->why);
    sw_blob_named(to, "switches", h->meetings);
    sw_blob_named(to, "switching_ns", h->meeting_time);
}

static void put_epochs(sw_blob_t *to, const sw_log_t *log)
{
    sw_blob_text(to, "\"columns\": [\"side\", \"pair\", \"began_ns\", "
                     "\"calls\", \"flags\"], \"epochs\": [");
    for (uint32_t i = 0; i < log->count; i++) {
        const sw_log_epoch_t *e = &log->epoch[i];
        sw_blob_text(to, i ? ",\n[" : "\n[");
        put_signed(to, e->side);
        put_signed(to, e->pair);
        put_signed(to, (int64_t)e->began);
        put_signed(to, (int64_t)e->calls);
        put_signed(to, e->flags);
        sw_blob_close(to, "]");
    }
    sw_blob_text(to, "], ");
}

/* One row for each number of this rank's, with those of all ranks. */
static void put_rows(sw_blob_t *to, const uint64_t *mine, uint32_t count,
                     uint64_t *all, MPI_Comm comm)
{
    for (uint32_t at = 0; at < count; at += PIECE) {
        int n = (int)sw_min(PIECE, count - at);
        host.Gather(mine + at, n, MPI_UINT64_T, all, n, MPI_UINT64_T, 0, comm);
        for (int i = 0; to && i < n; i++) {
            sw_blob_text(to, at || i ? ",\n[" : "\n[");
            for (int r = 0; r < sw_roster.ranks; r++)
                put_signed(to, (int64_t)all[r * n + i]);
            sw_blob_close(to, "]");
        }
    }
}

static void save(const sw_blob_t *text, const char *path)
{
    int fd = text->lost ? -1 : sw_os_open_new(path);
    if (text->lost)
        errno = ENOMEM;
    bool ok = fd >= 0 && !sw_os_write_all(fd, text->at, text->size);
    if (fd >= 0 && close(fd))
        ok = false;
    if (!ok)
        sw_say("the epochs cannot be written to %s: %s", path, strerror(errno));
}

void sw_log_write(const sw_log_t *log, const sw_log_head_t *head,
                  const char *path, MPI_Comm comm)
{
    bool first = sw_roster.rank == 0;
    sw_blob_t text = {0}, *to = first ? &text : NULL;
    size_t bytes = (size_t)sw_roster.ranks * PIECE * sizeof(uint64_t);
    uint64_t *all = first ? malloc(bytes) : NULL;
    int there = !first || all != NULL, everywhere = 0;
    host.Allreduce(&there, &everywhere, 1, MPI_INT, MPI_MIN, comm);
    if (!everywhere) {
        if (first)
            sw_say("no memory for the epochs' times");
        return;
    }
    if (first) {
        put_head(to, head);
        put_epochs(to, log);
        sw_blob_text(to, "\"init_ns\": ");
    }
    put_rows(to, &head->own, 1, all, comm);
    if (first)
        sw_blob_text(to, ", \"times\": [");
    put_rows(to, log->times, log->count, all, comm);
    if (first) {
        sw_blob_text(to, "]}\n");
        save(to, path);
        sw_blob_free(to);
    }
    free(all);
}
