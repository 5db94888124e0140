/*
 * segment.c - the pool of communicator blocks; see segment.h.
 *
 * Blocks come in few sizes (one per number of members), so the free list is a
 * plain array searched for the best fit; neighbours are joined when nothing
 * fits. The records are kept outside the shared file: no other process can
 * damage them.
 *
 * A program may keep thousands of windows alive while it makes more. To collect
 * what has been left, the leader looks at every block. So the leader collects
 * once for every so many blocks that it hands out. The pool grows meanwhile.
 */
#include "segment.h"

#include "node/os/os.h"
#include "node/base/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t offset, size;
    bool live;
} record_t;

/* The span of a segment that holds the profile's board alone. */
#define PROFILE_ONLY ((size_t)1 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_segment_t self = {.fd = -1};
static bool tried;
static pid_t owner; /* a forked child starts anew */

static record_t *records; /* ordered by offset, no gaps up to `top` */
static size_t count, room;
static uint64_t top = SW_PAGE;
static size_t in_use, in_use_peak;
static size_t free_from;  /* the records before it are live */
static size_t handed_out; /* blocks, since the last collection */

static void make(void)
{
    tried = true;
    owner = sw_os_pid();
    int fd = sw_os_memfd("straightway-control");
    if (fd < 0)
        return;
    size_t span = sw_settings.enable ? sw_settings.pool_size : PROFILE_ONLY;
    size_t limit = sw_os_address_limit();
    if (limit != SIZE_MAX)
        span = sw_min(span, limit / 16);
    span = sw_max(span & ~(size_t)(SW_PAGE - 1), 16 * SW_PAGE);
    char *base = NULL;
    while (!base && span >= 16 * SW_PAGE) {
        if (sw_os_resize(fd, span) == 0)
            base = sw_os_map_shared(NULL, span, fd, 0);
        if (!base)
            span = (span / 4) & ~(size_t)(SW_PAGE - 1);
    }
    if (!base) {
        int error = errno;
        close(fd);
        errno = error;
        return;
    }
    sw_os_random(&self.token, sizeof self.token);
    ((sw_segment_head_t *)base)->token = self.token;
    self.span = span;
    self.base = base;
    self.fd = fd;
    self.file = sw_os_file_id(fd);
}

const sw_segment_t *sw_segment(void)
{
    pthread_mutex_lock(&lock);
    if (tried && owner != sw_os_pid()) {
        /* After fork: the parent's segment is not ours to offer. */
        tried = false;
        self = (sw_segment_t){.fd = -1};
        count = free_from = handed_out = 0;
        top = SW_PAGE;
        in_use = 0;
    }
    if (!tried)
        make();
    pthread_mutex_unlock(&lock);
    return self.fd < 0 ? NULL : &self;
}

/* Collect the blocks that every member has left; join free neighbours. */
static void sweep(void)
{
    size_t kept = 0;
    free_from = SIZE_MAX;
    handed_out = 0;
    for (size_t i = 0; i < count; i++) {
        record_t *r = &records[i];
        if (r->live) {
            sw_block_t *block = (sw_block_t *)(self.base + r->offset);
            if (atomic_load_explicit(&block->members, memory_order_acquire) <=
                0) {
                r->live = false;
                in_use -= r->size;
            }
        }
        if (!r->live && kept && !records[kept - 1].live)
            records[kept - 1].size += r->size;
        else
            records[kept++] = *r;
        if (!records[kept - 1].live)
            free_from = sw_min(free_from, kept - 1);
    }
    count = kept;
    if (count && !records[count - 1].live)
        top = records[--count].offset;
    free_from = sw_min(free_from, count);
}

/* Room for one more record; the array may move. */
static bool more(void)
{
    if (count < room)
        return true;
    size_t next = room ? 2 * room : 64;
    record_t *moved = realloc(records, next * sizeof *moved);
    if (!moved)
        return false;
    records = moved;
    room = next;
    return true;
}

/* Best fit among the free records, split where much is left over. */
static record_t *reuse(size_t size)
{
    size_t best = SIZE_MAX;
    while (free_from < count && records[free_from].live)
        free_from++;
    for (size_t i = free_from; i < count; i++)
        if (!records[i].live && records[i].size >= size &&
            (best == SIZE_MAX || records[i].size < records[best].size)) {
            best = i;
            if (records[i].size == size)
                break;
        }
    if (best == SIZE_MAX || !more())
        return NULL;
    record_t *r = &records[best];
    if (r->size > size) {
        memmove(r + 2, r + 1, (count - best - 1) * sizeof *r);
        r[1] = (record_t){r->offset + size, r->size - size, false};
        r->size = size;
        count++;
    }
    return r;
}

static record_t *extend(size_t size)
{
    if (size > self.span - top || !more())
        return NULL;
    records[count] = (record_t){top, size, false};
    top += size;
    return &records[count++];
}

static record_t *take(size_t size)
{
    record_t *r = reuse(size);
    if (!r && handed_out < count / 4)
        r = extend(size);
    if (!r) {
        sweep();
        r = reuse(size);
    }
    return r ? r : extend(size);
}

/* Do the records lie in order, without gaps, up to `top`? For sw_assert. */
static bool in_order(void)
{
    uint64_t at = SW_PAGE;
    for (size_t i = 0; i < count; at += records[i++].size)
        if (records[i].offset != at || !records[i].size)
            return false;
    return at == top && top <= self.span;
}

uint64_t sw_segment_alloc(size_t size, size_t zero, int members)
{
    if (!sw_segment())
        return 0;
    size = sw_round_up(size, SW_PAGE);
    pthread_mutex_lock(&lock);
    record_t *r = take(size);
    uint64_t offset = 0;
    if (r) {
        r->live = true;
        handed_out++;
        in_use += size;
        in_use_peak = sw_max(in_use_peak, in_use);
        offset = r->offset;
        sw_block_t *block = (sw_block_t *)(self.base + offset);
        memset(block, 0, zero);
        block->size = size;
        atomic_store_explicit(&block->members, members, memory_order_release);
    }
    sw_assert(in_order());
    pthread_mutex_unlock(&lock);
    return offset;
}

void sw_segment_usage(size_t *now, size_t *peak)
{
    pthread_mutex_lock(&lock);
    if (self.fd >= 0)
        sweep();
    *now = in_use;
    *peak = in_use_peak;
    pthread_mutex_unlock(&lock);
}
