/*
 * os_linux_memory.c - the part of the door to Linux that deals with mapped
 * memory and the files behind it: what is resident, what is a hole, copying
 * it aside for a fork, what a core dump holds, and a peer's files.
 *
 * Like os_linux.c it never allocates (libc may, in sw_os_stack). The front
 * listens to what programs say of their pages (front/heap/pages.c), and is not
 * to take this library's own words for theirs: those are system calls.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

void *sw_os_map_lazy(void *at, size_t size)
{
    void *p = mmap(at, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                       (at ? MAP_FIXED : 0),
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Linux looks at the advice first. */
bool sw_os_heeds_advice(void)
{
    static _Atomic int heeds; /* 0: not asked, 1: it does, -1: it does not */
    int error = errno, now = atomic_load_explicit(&heeds, memory_order_relaxed);
    if (sw_likely(now))
        return now > 0;
    now = syscall(SYS_madvise, NULL, SW_PAGE, -1) ? 1 : -1;
    atomic_store_explicit(&heeds, now, memory_order_relaxed);
    errno = error;
    return now > 0;
}

int sw_os_dump(void *p, size_t size, bool in)
{
    if (sw_os_refused(SW_DOOR_DUMP)) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, p, size, in ? MADV_DODUMP : MADV_DONTDUMP);
}

int sw_os_unshare(void *p, size_t size)
{
    void *copy = sw_os_map_private(NULL, size);
    if (!copy)
        return -1;
    memcpy(copy, p, size);
    if (syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                p) == (long)(uintptr_t)p)
        return 0;
    munmap(copy, size);
    return -1;
}

bool sw_os_locks_future;

int sw_os_open(void *p, size_t size)
{
    if (syscall(SYS_mprotect, p, size, PROT_READ | PROT_WRITE))
        return -1;
    if (sw_os_locks_future)
        syscall(SYS_mlock, p, size);
    return 0;
}

int sw_os_close(void *p, size_t size)
{
    void *at = mmap(p, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                    0);
    return at == MAP_FAILED ? -1 : 0;
}

/* The host's registration caches listen to libc's mmap: it is called by its
 * name. Older kernels may take the private pages away and then fail. */
int sw_os_show(int fd, void *p, size_t size, size_t offset)
{
    if (sw_os_refused(SW_DOOR_SHOW)) {
        errno = ENOSPC;
        return -1;
    }
    if (sw_os_write_at(fd, p, size, offset))
        return -1;
    bool refused = sw_os_refused(SW_DOOR_SHARE);
    for (int tries = 0; tries < 2 && !refused; tries++)
        if (mmap(p, size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_POPULATE | MAP_NORESERVE, fd,
                 (off_t)offset) == p)
            return 0;
    if (sw_os_heeds_advice() && madvise(p, size, MADV_NORMAL) == 0)
        return -1; /* all of it is still there */
    if (sw_os_map_lazy(p, size) && !sw_os_read_at(fd, p, size, offset))
        return -1;
    static const char text[] = "straightway: the system has taken memory away "
                               "while it was being shared (run with "
                               "STRAIGHTWAY_SHOW=off)\n";
    sw_os_write_all(2, text, sizeof text - 1);
    abort();
}

size_t sw_os_page_size(void)
{
    return sw_os_refused(SW_DOOR_PAGE) ? 65536 : (size_t)sysconf(_SC_PAGESIZE);
}

int sw_os_discard(void *p, size_t size)
{
    if (sw_likely(!sw_os_refused(SW_DOOR_ADVICE) && sw_os_heeds_advice()))
        return madvise(p, size, MADV_DONTNEED);
    return sw_os_map_lazy(p, size) ? 0 : -1;
}

int sw_os_read_at(int fd, void *to, size_t n, size_t offset)
{
    for (char *p = to; n;) {
        ssize_t got = pread(fd, p, n, (off_t)offset);
        if (got <= 0) {
            if (got < 0 && errno == EINTR)
                continue;
            return -1;
        }
        p += got;
        n -= (size_t)got;
        offset += (size_t)got;
    }
    return 0;
}

/* Beyond the limit on files' sizes a write would raise SIGXFSZ, whenever the
 * program has set that limit. */
int sw_os_write_at(int fd, const void *from, size_t n, size_t offset)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && offset + n > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    for (const char *p = from; n;) {
        ssize_t put = pwrite(fd, p, n, (off_t)offset);
        if (put <= 0) {
            if (put < 0 && errno == EINTR)
                continue;
            return -1;
        }
        p += put;
        n -= (size_t)put;
        offset += (size_t)put;
    }
    return 0;
}

bool sw_os_next_data(int fd, size_t *from, size_t *to)
{
    off_t data = lseek(fd, (off_t)*from, SEEK_DATA);
    if (data < 0)
        return errno != ENXIO; /* cannot tell: take it all as data */
    if ((size_t)data >= *to)
        return false;
    off_t hole = lseek(fd, data, SEEK_HOLE);
    *from = sw_max(*from, (size_t)data);
    if (hole > data)
        *to = sw_min(*to, (size_t)hole);
    return true;
}

void *sw_os_move(void *p, size_t size)
{
    void *to = mmap(NULL, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (to == MAP_FAILED)
        return NULL;
    /* UCX replaces mremap in libc, by a function without the fifth argument
     * in some versions: the mapping would move to address 0. */
    if (syscall(SYS_mremap, p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
        (long)(uintptr_t)to)
        return to;
    munmap(to, size);
    return NULL;
}

/* Fresh mappings by libc's mmap tell the host's registration caches, which know
 * nothing of a system call. Nothing is unmapped meanwhile (Linux 5.7), so that
 * no other thread's mapping can come in between. */
int sw_os_move_pages(void *from, void *to, size_t size)
{
    if (!sw_os_map_lazy(to, size))
        return -1;
    if (syscall(SYS_mremap, from, size, size,
                MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                to) != (long)(uintptr_t)to)
        return -1;
    sw_os_map_lazy(from, size);
    return 0;
}

int sw_os_high_fd(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
    if (high < 0)
        high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static sw_file_id_t identity(const struct stat *file)
{
    return (sw_file_id_t){(uint64_t)file->st_dev, (uint64_t)file->st_ino};
}

sw_file_id_t sw_os_file_id(int fd)
{
    struct stat file;
    return fstat(fd, &file) ? (sw_file_id_t){0, 0} : identity(&file);
}

int sw_os_peer_fd(pid_t pid, int fd, sw_file_id_t file)
{
    if (sw_os_refused(SW_DOOR_PEERFD)) {
        errno = EACCES;
        return -1;
    }
    char path[64];
    struct stat there;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    if (stat(path, &there))
        return -1;
    if (sw_same_file(file, identity(&there))) {
        int own = open(path, O_RDWR | O_CLOEXEC);
        /* The owner may have closed it since, and used the number again. */
        if (own < 0 || sw_same_file(file, sw_os_file_id(own)))
            return own;
        close(own);
    }
    errno = EBADF;
    return -1;
}

int sw_os_touched(const void *at, size_t pages, unsigned char *touched)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    uint64_t entry[256];
    size_t first = (uintptr_t)at / SW_PAGE;
    int rc = 0;
    for (size_t i = 0; i < pages && !rc;) {
        size_t n = sw_min(pages - i, 256);
        rc = sw_os_read_at(fd, entry, n * 8, (first + i) * 8);
        for (size_t k = 0; k < n; k++)
            touched[i + k] = entry[k] >> 62 != 0; /* present or swapped */
        i += n;
    }
    close(fd);
    return rc;
}

/* /proc/self/maps, read line by line: "start-end rwxp ...". */
typedef struct {
    int fd;
    int at, end;
    char text[2048];
} lines_t;

static int next_char(lines_t *in)
{
    if (in->at == in->end) {
        ssize_t n;
        do
            n = read(in->fd, in->text, sizeof in->text);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return -1;
        in->at = 0;
        in->end = (int)n;
    }
    return (unsigned char)in->text[in->at++];
}

static int next_hex(lines_t *in, uintptr_t *value)
{
    int c;
    *value = 0;
    while ((c = next_char(in)) >= 0) {
        if (c >= '0' && c <= '9')
            *value = *value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value * 16 + (uintptr_t)(c - 'a' + 10);
        else
            break;
    }
    return c;
}

typedef struct {
    uintptr_t low, high;
    char mode[4];
    sw_os_place_t place;
    bool our_file;
} mapping_t;

static bool next_mapping(lines_t *in, mapping_t *to)
{
    static const char name[] = "/memfd:straightway";
    size_t same = 0;
    uintptr_t offset, major, minor, inode;
    if (next_hex(in, &to->low) != '-' || next_hex(in, &to->high) != ' ')
        return false;
    for (int i = 0; i < 4; i++)
        to->mode[i] = (char)next_char(in);
    next_char(in);
    next_hex(in, &offset);
    next_hex(in, &major);
    next_hex(in, &minor);
    /* The inode is decimal. Its digits tell files apart as well. */
    int c = next_hex(in, &inode);
    to->place = (sw_os_place_t){.device = (uint64_t)major << 32 | minor,
                                .inode = inode,
                                .offset = offset};
    while (c != '\n' && c >= 0) {
        c = next_char(in);
        if (c != ' ')
            to->place.name = (to->place.name ^ (uint64_t)c) * 0x100000001b3u;
        if (same < sizeof name - 1)
            same = c == name[same] ? same + 1 : c == name[0];
    }
    to->our_file = same == sizeof name - 1;
    return true;
}

bool sw_os_is_private_rw(const void *start, size_t size)
{
    lines_t in = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (in.fd < 0)
        return false;
    uintptr_t want = (uintptr_t)start, end = want + size;
    mapping_t m;
    while (want < end && next_mapping(&in, &m)) {
        if (m.high <= want)
            continue;
        if (m.low > want || m.mode[0] != 'r' || m.mode[1] != 'w' ||
            m.mode[3] != 'p')
            break;
        want = m.high;
    }
    close(in.fd);
    return want >= end;
}

static bool is_shared(const mapping_t *m)
{
    return m->place.inode && m->mode[0] == 'r' && m->mode[1] == 'w' &&
           m->mode[3] == 's';
}

bool sw_os_place(pid_t pid, const void *p, size_t n, sw_os_place_t *to)
{
    char path[32] = "/proc/self/maps";
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    lines_t in = {.fd = sw_os_refused(SW_DOOR_PLACE)
                            ? -1
                            : open(path, O_RDONLY | O_CLOEXEC)};
    uintptr_t at = (uintptr_t)p;
    mapping_t m = {.high = 0};
    if (in.fd < 0)
        return false;
    while (m.high <= at && next_mapping(&in, &m))
        ;
    close(in.fd);
    if (at < m.low || at >= m.high || n > m.high - at || !is_shared(&m))
        return false;
    *to = m.place;
    to->offset += at - m.low;
    return true;
}

void sw_os_find_places(const sw_os_place_t *place, const uint64_t *bytes, int n,
                       void **at)
{
    lines_t in = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    mapping_t m;
    for (int i = 0; i < n; i++)
        at[i] = NULL;
    while (in.fd >= 0 && next_mapping(&in, &m)) {
        uint64_t from = m.place.offset, room = m.high - m.low;
        for (int i = 0; is_shared(&m) && i < n; i++)
            if (bytes[i] && place[i].device == m.place.device &&
                place[i].inode == m.place.inode &&
                place[i].name == m.place.name && place[i].offset >= from &&
                place[i].offset - from < room &&
                bytes[i] <= room - (place[i].offset - from))
                at[i] = (void *)(m.low + (place[i].offset - from));
    }
    if (in.fd >= 0)
        close(in.fd);
}

/* Locking changes the list: each mapping is looked up anew. */
static bool mapping_from(uintptr_t from, mapping_t *to)
{
    lines_t in = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool found = false;
    if (in.fd < 0)
        return false;
    while (!found && next_mapping(&in, to))
        found = to->low >= from;
    close(in.fd);
    return found;
}

int sw_os_lock_mappings(bool (*leave)(uintptr_t low, uintptr_t high,
                                      bool our_file))
{
    mapping_t m = {.high = 0};
    while (mapping_from(m.high, &m)) {
        bool none = m.mode[0] == '-' && m.mode[1] == '-' && m.mode[2] == '-';
        /* The kernel's own pages cannot be locked. */
        if (!none && !leave(m.low, m.high, m.our_file) &&
            syscall(SYS_mlock, m.low, m.high - m.low) && errno != ENOMEM)
            return -1;
    }
    return 0;
}

size_t sw_os_address_used(void)
{
    char text[64];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return strtoull(text, NULL, 10) * sw_os_page_size();
}

uint64_t sw_os_pinned(void)
{
    static const char name[] = "\nVmPin:";
    lines_t in = {.fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC)};
    size_t same = 0;
    uint64_t kib = 0;
    int c = 0;
    if (in.fd < 0)
        return 0;
    while (same < sizeof name - 1 && (c = next_char(&in)) >= 0)
        same = c == name[same] ? same + 1 : c == name[0];
    while (c >= 0 && (c = next_char(&in)) >= 0 && c != '\n')
        if (c >= '0' && c <= '9')
            kib = kib * 10 + (uint64_t)(c - '0');
    close(in.fd);
    return kib * 1024 / SW_PAGE;
}

/* A folder in /sys/class has an entry for each device, and nothing else. */
bool sw_os_has_cards(void)
{
    static const char *const folders[] = {"/sys/class/infiniband",
                                          "/sys/class/cxi"};
    bool any = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !any; i++) {
        char entries[512];
        int fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        long n = 0;
        if (fd < 0)
            continue;
        /* "." and ".." are 24 bytes each. */
        n = syscall(SYS_getdents64, fd, entries, sizeof entries);
        close(fd);
        any = n > 48;
    }
    return any;
}

int sw_os_threads(void)
{
    struct stat tasks;
    if (stat("/proc/self/task", &tasks))
        return 0;
    return (int)tasks.st_nlink - 2;
}

bool sw_os_stack(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attributes;
    void *at;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return false;
    int rc = pthread_attr_getstack(&attributes, &at, &size);
    pthread_attr_destroy(&attributes);
    *low = (uintptr_t)at;
    *high = (uintptr_t)at + size;
    return !rc;
}

/* The kernel fetches the new mask before it finds that it does not know what
 * to do with it: EFAULT if it could not, EINVAL if it could. */
bool sw_os_readable(const void *p)
{
    int error = errno;
    bool can = syscall(SYS_rt_sigprocmask, -1, p, NULL, 8) == 0 ||
               errno != EFAULT;
    errno = error;
    return can;
}

/* A futex call that wakes and moves no thread: the kernel compares first,
 * and tells EAGAIN or EFAULT. */
bool sw_os_word_is(const void *p, uint32_t value)
{
    enum { CMP_REQUEUE_PRIVATE = 4 | 128 };
    static uint32_t nobody;
    int error = errno;
    bool same = !sw_os_refused(SW_DOOR_PLACE) &&
                syscall(SYS_futex, p, CMP_REQUEUE_PRIVATE, 0, NULL, &nobody,
                        value) == 0;
    errno = error;
    return same;
}
