/*
 * tracer.c - see tracer.h.
 *
 * The file is opened for each block: a descriptor that is kept open may be
 * closed by the program, and its number then be another file's.
 */
#include "tracer.h"

#include "profile/base/blob.h"
#include "profile/base/capture_file.h"
#include "profile/base/job.h"
#include "profile/base/memory.h"
#include "node/base/crc.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define ROOM (256u << 10) /* of a buffer */
#define TRACE_HEAD 24u    /* bytes: of a TRAC block's payload */
#define HEADS (SW_CAPTURE_HEAD + TRACE_HEAD)
#define VARINT 10u   /* bytes of the longest */
#define PATIENCE 100 /* ms, for another thread's write */

bool sw_tracing;
sw_tracer_sums_t sw_tracer_sums;

static char path[sizeof sw_job.path + 32];
static _Atomic int64_t left; /* bytes that may still be written */
static _Atomic uint32_t records, requests;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t sw_tracer_open(uint64_t limit)
{
    const char *ending = ".swcap";
    size_t stem = strlen(sw_job.path), n = strlen(ending);
    struct statvfs disk;
    char folder[sizeof sw_job.path];
    if (stem > n && !strcmp(sw_job.path + stem - n, ending))
        stem -= n;
    snprintf(path, sizeof path, "%.*s.rank%d.swtrace", (int)stem, sw_job.path,
             (int)sw_job.rank);
    strcpy(folder, sw_job.path);
    *strrchr(folder, '/') = '\0';
    if (!statvfs(*folder ? folder : "/", &disk)) {
        uint64_t free = (uint64_t)disk.f_bavail * disk.f_frsize;
        limit = sw_min(limit, free / 2);
    }
    int fd = sw_os_open_new(path);
    if (fd < 0)
        return 0;
    int rc = sw_capture_begin(fd);
    if (close(fd) || rc)
        return 0;
    atomic_store(&left, (int64_t)(limit / (uint64_t)sw_job.ranks));
    sw_tracing = true;
    return limit;
}

sw_tracer_t *sw_tracer_make(uint32_t thread, bool scratch)
{
    sw_tracer_t *t = sw_profile_memory(sizeof *t);
    char *buffer = t ? sw_profile_memory(ROOM) : NULL;
    if (!buffer)
        return NULL;
    t->thread = thread;
    t->scratch = scratch;
    t->buffer = buffer;
    t->room = ROOM;
    return t;
}

/* Writing ----------------------------------------------------------------- */

static void stop(const char *why)
{
    const char *nothing = NULL;
    atomic_compare_exchange_strong(&sw_tracer_sums.stopped, &nothing, why);
}

/* All of the block or, as far as can be, nothing of it. */
static int append(const char *bytes, size_t n)
{
    int fd = sw_os_open_append(path);
    if (fd < 0)
        return -1;
    int rc = sw_capture_begin(fd);
    off_t before = lseek(fd, 0, SEEK_END);
    if (!rc)
        rc = sw_os_write_all(fd, bytes, n);
    if (rc && before >= 0 && ftruncate(fd, before))
        stop("disk");
    return close(fd) || rc ? -1 : 0;
}

/* Blocks of several threads must not mix. A signal's handler may have come
 * in between a lock and its unlock, and does not wait for long. */
static void enter(bool *entered)
{
    struct timespec ms = {.tv_nsec = 1000000};
    for (int i = 0; i < PATIENCE; i++) {
        *entered = !pthread_mutex_trylock(&lock);
        if (*entered)
            return;
        nanosleep(&ms, NULL);
    }
}

static void write_block(sw_tracer_t *t, uint32_t events, uint32_t used)
{
    char *payload = t->buffer + SW_CAPTURE_HEAD;
    uint32_t length = used - SW_CAPTURE_HEAD;
    if (sw_tracer_sums.stopped ||
        atomic_fetch_sub(&left, used) < (int64_t)used) {
        stop("limit");
        atomic_fetch_add(&sw_tracer_sums.lost, events);
        return;
    }
    sw_capture_number(payload, 1, 4);
    sw_capture_number(payload + 4, t->thread, 4);
    sw_capture_number(payload + 8, t->base, 8);
    sw_capture_number(payload + 16, events, 4);
    sw_capture_number(payload + 20, 0, 4);
    sw_capture_head(t->buffer, "TRAC", sw_crc32(0, payload, length), length);
    bool entered;
    enter(&entered);
    int rc = append(t->buffer, used);
    if (entered)
        pthread_mutex_unlock(&lock);
    if (rc) {
        stop("disk");
        atomic_fetch_add(&sw_tracer_sums.lost, events);
    } else {
        atomic_fetch_add(&sw_tracer_sums.events, events);
        atomic_fetch_add(&sw_tracer_sums.bytes, length);
    }
}

/* The owner changes bytes below `fill` only after it has taken the buffer, and
 * gives it back empty. The thread that closes takes it for good: what it reads
 * below the `fill` it sees (acquire; release in sw_tracer_event) does not
 * change. Closing while the owner writes does nothing: that block is on its
 * way. */
static bool take(sw_tracer_t *t)
{
    if (atomic_exchange(&t->taken, true))
        return false;
    uint64_t fill = atomic_load_explicit(&t->fill, memory_order_acquire);
    if (fill >> 32 && !t->scratch)
        write_block(t, (uint32_t)(fill >> 32), (uint32_t)fill);
    return true;
}

void sw_tracer_close(sw_tracer_t *t)
{
    take(t);
}

static bool flush(sw_tracer_t *t)
{
    if (!take(t)) {
        /* It was closed. The closer may still have to look at `fill`, so
         * nothing may come behind an event that is lost. */
        t->room = 0;
        atomic_fetch_add(&sw_tracer_sums.lost, 1);
        return false;
    }
    atomic_store_explicit(&t->fill, 0, memory_order_relaxed);
    atomic_store_explicit(&t->taken, false, memory_order_release);
    return true;
}

/* Events ------------------------------------------------------------------ */

static char *put(char *at, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        *at++ = (char)(n | 0x80);
    *at++ = (char)n;
    return at;
}

static bool widen(char **at, uint32_t *room, uint32_t used, uint32_t more)
{
    if (sw_likely(more <= *room - used))
        return true;
    uint64_t size = sw_max((uint64_t)used + more, 2 * (uint64_t)*room);
    char *to = size < UINT32_MAX ? sw_profile_memory(size) : NULL;
    if (!to)
        return false;
    if (used)
        memcpy(to, *at, used);
    *at = to;
    *room = (uint32_t)size;
    return true;
}

void sw_tracer_note(sw_tracer_t *t, sw_note_kind_t kind, const uint64_t *fields,
                    unsigned n)
{
    if (!widen(&t->notes, &t->notes_room, t->notes_used, (n + 1) * VARINT))
        return;
    char *at = put(t->notes + t->notes_used, (uint64_t)kind << 3 | n);
    for (unsigned i = 0; i < n; i++)
        at = put(at, fields[i]);
    t->notes_used = (uint32_t)(at - t->notes);
    sw_assert(t->notes_used <= t->notes_room);
}

/* Does the record's last event in this block have other bytes? */
static bool other_amount(sw_tracer_t *t, sw_record_t *r, const sw_amount_t *a)
{
    sw_traced_t *last = &r->traced;
    if (last->block != t->block)
        *last = (sw_traced_t){.block = t->block};
    if (last->size == a->size && last->sent == a->sent &&
        last->received == a->received)
        return false;
    last->size = a->size;
    last->sent = a->sent;
    last->received = a->received;
    return true;
}

/* The number of a record; its owner alone gives it one. */
static uint32_t number_of(sw_record_t *r)
{
    if (!r)
        return 0;
    uint32_t number = atomic_load_explicit(&r->number, memory_order_relaxed);
    if (sw_unlikely(!number)) {
        number = atomic_fetch_add(&records, 1) + 1;
        atomic_store_explicit(&r->number, number, memory_order_relaxed);
    }
    return number;
}

void sw_tracer_event(sw_tracer_t *t, sw_record_t *r, uint64_t began,
                     uint64_t ticks, const sw_amount_t *amount)
{
    if (sw_unlikely(sw_tracer_sums.stopped)) {
        if (flush(t))
            atomic_fetch_add(&sw_tracer_sums.lost, 1);
        return;
    }
    uint32_t most = t->notes_used + 8 * VARINT;
    uint64_t fill = atomic_load_explicit(&t->fill, memory_order_relaxed);
    if (sw_unlikely((uint32_t)fill + most > t->room)) {
        if (!flush(t))
            return;
        fill = 0;
    }
    if (sw_unlikely(!fill)) {
        if (!widen(&t->buffer, &t->room, 0, HEADS + most)) {
            atomic_fetch_add(&sw_tracer_sums.lost, 1);
            return;
        }
        fill = HEADS;
        t->base = t->last = sw_max(t->last, began);
        t->block++;
    }
    bool other = !r || other_amount(t, r, amount);
    bool notes = other || t->notes_used;
    uint64_t gap = began > t->last ? began - t->last : 0;
    char *at = t->buffer + (uint32_t)fill;
    at = put(at, (uint64_t)number_of(r) << 2 | (uint64_t)notes << 1 |
                     amount->failed);
    at = put(at, gap);
    at = put(at, ticks);
    if (other) {
        at = put(at, SW_NOTE_AMOUNT << 3 | 3);
        at = put(at, amount->size);
        at = put(at, amount->sent);
        at = put(at, amount->received);
    }
    if (t->notes_used) {
        memcpy(at, t->notes, t->notes_used);
        at += t->notes_used;
    }
    if (notes)
        *at++ = 0;
    t->last += gap + ticks;
    sw_assert(at <= t->buffer + t->room && t->last >= t->base);
    /* A thread that sees the new fill sees the bytes. */
    uint64_t events = (fill >> 32) + 1;
    atomic_store_explicit(&t->fill, events << 32 | (uint64_t)(at - t->buffer),
                          memory_order_release);
}

uint32_t sw_tracer_request(void)
{
    return atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
}
