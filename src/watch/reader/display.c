/* display.c - see display.h. */
#include "display.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH "/memfd:" SW_WATCH_NAME
#define SIZE sizeof(sw_watch_t)

static const char unreadable[] = "has a watch file that cannot be read";

enum { TRIES = 20000, REMOTE_TRIES = 500 };

static const char *broken(sw_display_t *d, const char *why)
{
    d->broken = true;
    return why;
}

/* Whose file it is ------------------------------------------------------- */

/* The process's number in its innermost namespace; 0: not known. */
static int inner_pid(pid_t pid)
{
    char path[64], line[256];
    int found = 0;

    sprintf(path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "NSpid:", 6)) {
            char *last = strrchr(line, '\t');
            found = last ? atoi(last) : 0;
            break;
        }
    if (f)
        fclose(f);
    return found;
}

/* NULL: the header is good. A forked child has its parent's file. */
static const char *check(sw_display_t *d, const sw_watch_t *w)
{
    static char why[96];

    if (w->magic != SW_WATCH_MAGIC)
        return ""; /* not written yet */
    if (w->version != SW_WATCH_VERSION || w->size != SIZE)
        return broken(d, "runs with another version of Straightway");
    d->inside = false;
    if (w->pid == d->space->pid)
        return NULL;
    if (w->pid == inner_pid(d->space->pid)) {
        d->inside = true;
        return NULL;
    }
    snprintf(why, sizeof why, "is a child of process %d and shows no calls",
             (int)w->pid);
    return why;
}

/* A file that is open here ----------------------------------------------- */

static bool read_range(int fd, char *to, off_t from, off_t end)
{
    while (from < end) {
        ssize_t n = pread(fd, to + from, (size_t)(end - from), from);
        if (n <= 0)
            return false;
        from += n;
    }
    return true;
}

static bool copy_file(sw_display_t *d, int fd)
{
    off_t end = (off_t)SIZE;

    for (off_t at = 0; at < end;) {
        off_t from = lseek(fd, at, SEEK_DATA);
        if (from < 0 || from >= end)
            return from >= 0 || errno == ENXIO;
        off_t to = lseek(fd, from, SEEK_HOLE);
        to = to < 0 || to > end ? end : to;
        if (to <= from || !read_range(fd, (char *)d->copy, from, to))
            return false;
        for (off_t p = from / SW_PAGE; p <= (to - 1) / SW_PAGE; p++)
            d->has[p] = true;
        at = to;
    }
    return true;
}

static const char *open_file(sw_display_t *d, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    sw_watch_t *header = d->copy;
    struct stat st;
    const char *why = "";

    if (fd < 0)
        return why;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)SIZE &&
        read_range(fd, (char *)header, 0, offsetof(sw_watch_t, lost)) &&
        !(why = check(d, header))) {
        void *live = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
        d->live = live == MAP_FAILED ? NULL : live;
        if (!d->live || !copy_file(d, fd))
            why = broken(d, unreadable);
        snprintf(d->path, sizeof d->path, "%s", path);
    }
    close(fd);
    return why;
}

/* The process's own mapping ---------------------------------------------- */

/* Only pages that the process has touched: a copy would make the others. */
static bool copy_mapping(sw_display_t *d)
{
    uint64_t bits[SW_DISPLAY_PAGES];
    char path[64];
    _Static_assert(sizeof bits <= 6000, "a frame of the stack");

    sprintf(path, "/proc/%d/pagemap", (int)d->space->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    if (fd >= 0) {
        got = pread(fd, bits, sizeof bits, (off_t)(d->remote / SW_PAGE * 8));
        close(fd);
    }
    for (size_t p = 0; p < SW_DISPLAY_PAGES; p++) {
        size_t at = p * SW_PAGE, n = sw_min(SW_PAGE, SIZE - at);
        if (got == (ssize_t)sizeof bits && !(bits[p] >> 62))
            continue;
        d->has[p] = true;
        if (sw_space_copy(d->space, d->remote + at, (char *)d->copy + at, n) !=
            n)
            return false;
    }
    return true;
}

static const char *open_mapping(sw_display_t *d)
{
    const sw_area_t *a = sw_space_named(d->space, PATH);
    char path[96];
    const char *why;

    if (!a || a->offset || a->to - a->from < SIZE)
        return "";
    sprintf(path, "/proc/%d/map_files/%llx-%llx", (int)d->space->pid,
            (unsigned long long)a->from, (unsigned long long)a->to);
    why = open_file(d, path);
    if (!why || *why)
        return why;
    d->remote = a->from;
    size_t n = offsetof(sw_watch_t, lost);
    if (sw_space_copy(d->space, d->remote, d->copy, n) != n)
        return broken(d, unreadable);
    why = check(d, d->copy);
    if (!why && !copy_mapping(d))
        why = broken(d, unreadable);
    return why;
}

/* Looking for it ---------------------------------------------------------- */

static const char *look(sw_display_t *d)
{
    char path[320], target[sizeof PATH + 16];
    const char *why = "", *best = "";
    struct dirent *e;

    sprintf(path, "/proc/%d/fd", (int)d->space->pid);
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? "has ended" : "does not let itself be read";
    while ((e = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, target,
                               sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = 0;
        if (strncmp(target, PATH, sizeof PATH - 1) != 0 ||
            (target[sizeof PATH - 1] && target[sizeof PATH - 1] != ' '))
            continue;
        sprintf(path, "/proc/%d/fd/%s", (int)d->space->pid, e->d_name);
        why = open_file(d, path);
        if (!why)
            break;
        best = *why ? why : best;
    }
    closedir(dir);
    if (!why)
        return NULL;
    why = open_mapping(d);
    return why && !*why ? best : why;
}

const char *sw_display_open(sw_display_t *d, sw_space_t *space)
{
    const char *why;

    *d = (sw_display_t){.space = space};
    void *copy = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return broken(d, "has a watch file for which there is no memory");
    d->copy = copy;
    why = look(d);
    if (why)
        sw_display_close(d);
    return why;
}

void sw_display_close(sw_display_t *d)
{
    if (d->copy)
        munmap(d->copy, SIZE);
    if (d->live)
        munmap((void *)(uintptr_t)d->live, SIZE);
    d->copy = NULL;
    d->live = NULL;
}

bool sw_display_has(const sw_display_t *d, const void *row, size_t size)
{
    size_t at = (size_t)((const char *)row - (const char *)d->copy);

    return d->has[at / SW_PAGE] || d->has[(at + size - 1) / SW_PAGE];
}

/* One row ----------------------------------------------------------------- */

static bool copy_live(const sw_watch_thread_t *row, sw_watch_thread_t *to)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t turn = atomic_load_explicit(&row->turn, memory_order_acquire);
        if (!(turn & 1)) {
            memcpy(to, row, sizeof *to);
            atomic_thread_fence(memory_order_acquire);
            if (atomic_load_explicit(&row->turn, memory_order_relaxed) == turn)
                return true;
        }
        for (volatile int wait = i % 64; wait; wait--)
            ;
    }
    return false;
}

/* The kernel copies the three pieces one after the other. */
static bool copy_remote(const sw_display_t *d, uint64_t row,
                        sw_watch_thread_t *to)
{
    uint32_t before, after;
    struct iovec here[] = {
        {&before, sizeof before}, {to, sizeof *to}, {&after, sizeof after}};
    void *there_row = (void *)(uintptr_t)row;
    struct iovec there[] = {{there_row, sizeof before},
                            {there_row, sizeof *to},
                            {there_row, sizeof after}};
    size_t all = sizeof before + sizeof *to + sizeof after;
    _Static_assert(offsetof(sw_watch_thread_t, turn) == 0, "turn comes first");

    for (int i = 0; i < REMOTE_TRIES; i++) {
        ssize_t got = process_vm_readv(d->space->pid, here, 3, there, 3, 0);
        if (got != (ssize_t)all)
            return false;
        if (before == after && !(before & 1))
            return true;
    }
    return false;
}

static uint64_t remote_row(const sw_display_t *d, size_t i)
{
    return d->remote + offsetof(sw_watch_t, threads) +
           i * sizeof(sw_watch_thread_t);
}

bool sw_display_thread(const sw_display_t *d, size_t i, sw_watch_thread_t *to)
{
    bool good = d->live ? copy_live(&d->live->threads[i], to)
                        : copy_remote(d, remote_row(d, i), to);

    if (good)
        sw_watch_call_tidy(&to->call);
    return good;
}

uint32_t sw_display_turn(const sw_display_t *d, size_t i)
{
    uint32_t turn = 1;

    if (d->live) {
        atomic_thread_fence(memory_order_acquire);
        return atomic_load_explicit(&d->live->threads[i].turn,
                                    memory_order_acquire);
    }
    sw_space_copy(d->space, remote_row(d, i), &turn, sizeof turn);
    return turn;
}
