/*
 * os_linux.c - the door to the operating system, on Linux.
 *
 * Raw system calls are used where libc may be too old to have a wrapper, and
 * because nothing here may reach malloc: the heap stands on this file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include "node/base/settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif

const char *const sw_os_door_names[SW_DOOR_COUNT] = {
    "memfd",    "map",    "peerfd", "cma",  "futex",  "huge",    "punch",
    "topology", "thread", "page",   "dump", "show",   "share",   "linker",
    "place",    "room",   "timer",  "heap", "advice", "library",
};

/* The first refused call of each door: 1 = all, 0 = none. Parsed once from
 * sw_settings.refuse; the text is tiny and tests alone set it. */
static int refuse_from[SW_DOOR_COUNT];
static _Atomic int refuse_seen[SW_DOOR_COUNT];
static _Atomic int refuse_state; /* 0 not parsed, 1 nothing, 2 something */

static int refuse_parse(void)
{
    const char *text = sw_settings.refuse;
    int state = 1;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        for (int d = 0; d < SW_DOOR_COUNT; d++) {
            size_t name = strlen(sw_os_door_names[d]);
            if (length < name || strncmp(text, sw_os_door_names[d], name))
                continue;
            if (length == name)
                refuse_from[d] = 1;
            else if (text[name] == ':')
                refuse_from[d] = atoi(text + name + 1);
            else
                continue;
            state = 2;
        }
        text += length;
        text += *text == ',';
    }
    return state;
}

bool sw_os_refused(sw_door_t door)
{
    int state = atomic_load_explicit(&refuse_state, memory_order_acquire);
    if (sw_likely(state == 1))
        return false;
    if (state == 0) {
        state = refuse_parse();
        atomic_store_explicit(&refuse_state, state, memory_order_release);
    }
    if (state == 1 || refuse_from[door] == 0)
        return false;
    return 1 + atomic_fetch_add(&refuse_seen[door], 1) >= refuse_from[door];
}

static bool refused(sw_door_t door, int error)
{
    if (sw_likely(!sw_os_refused(door)))
        return false;
    errno = error;
    return true;
}

/* Memory ------------------------------------------------------------- */

int sw_os_memfd(const char *label)
{
    if (refused(SW_DOOR_MEMFD, ENOSYS))
        return -1;
    return (int)syscall(SYS_memfd_create, label, MFD_CLOEXEC);
}

int sw_os_resize(int fd, size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    int rc;
    do
        rc = ftruncate(fd, (off_t)size);
    while (rc < 0 && errno == EINTR);
    return rc;
}

void *sw_os_reserve(size_t size, size_t align)
{
    if (refused(SW_DOOR_MAP, ENOMEM))
        return NULL;
    size_t span = size + (align > SW_PAGE ? align : 0);
    char *p = mmap(NULL, span, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (span == size)
        return p;
    char *start = (char *)sw_round_up((uintptr_t)p, align);
    if (start > p)
        munmap(p, (size_t)(start - p));
    size_t tail = (size_t)(p + span - (start + size));
    if (tail)
        munmap(start + size, tail);
    return start;
}

static void *map(void *at, size_t size, int flags, int fd, size_t offset)
{
    void *p = mmap(at, size, PROT_READ | PROT_WRITE,
                   flags | (at ? MAP_FIXED : 0), fd, (off_t)offset);
    return p == MAP_FAILED ? NULL : p;
}

/* What is locked as it comes must not be touched until it is unlocked again. */
static void *map_unlocked(void *at, size_t size, int flags, int fd,
                          size_t offset)
{
    void *p = mmap(at, size, PROT_NONE, flags | (at ? MAP_FIXED : 0), fd,
                   (off_t)offset);
    if (p == MAP_FAILED)
        return NULL;
    munlock(p, size);
    if (syscall(SYS_mprotect, p, size, PROT_READ | PROT_WRITE) == 0)
        return p;
    munmap(p, size);
    return NULL;
}

void *sw_os_map_shared(void *at, size_t size, int fd, size_t offset)
{
    if (refused(SW_DOOR_MAP, ENOMEM))
        return NULL;
    int way = MAP_SHARED | MAP_NORESERVE;
    void *p = sw_os_locks_future ? map_unlocked(at, size, way, fd, offset)
                                 : map(at, size, way, fd, offset);
    int saved = errno;
    if (p)
        sw_os_dump(p, size, false);
    errno = saved;
    return p;
}

void *sw_os_map_private(void *at, size_t size)
{
    return map(at, size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void sw_os_unmap(void *p, size_t size)
{
    munmap(p, size);
}

int sw_os_huge_advice(void *p, size_t size)
{
    if (refused(SW_DOOR_HUGE, EINVAL))
        return -1;
    return (int)syscall(SYS_madvise, p, size, MADV_HUGEPAGE);
}

int sw_os_populate(void *p, size_t size)
{
    if (refused(SW_DOOR_HUGE, EINVAL))
        return -1;
    return madvise(p, size, MADV_POPULATE_WRITE);
}

int sw_os_huge_collapse(void *p, size_t size)
{
    if (refused(SW_DOOR_HUGE, EINVAL))
        return -1;
    return madvise(p, size, MADV_COLLAPSE);
}

int sw_os_punch(int fd, void *p, size_t offset, size_t size)
{
    if (refused(SW_DOOR_PUNCH, EOPNOTSUPP))
        return -1;
    /* On a shared file mapping MADV_REMOVE punches the hole itself, and the
     * host's registration caches listen to libc's madvise. */
    if (sw_likely(!sw_os_refused(SW_DOOR_ADVICE) && sw_os_heeds_advice()))
        return madvise(p, size, MADV_REMOVE);
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)offset, (off_t)size);
}

/* Other processes ---------------------------------------------------- */

/* A collector may have protected the caller's memory, and opens it in a signal
 * handler when an instruction wants it. The kernel only says EFAULT. */
static void touch(char *p, size_t n, bool write)
{
    for (size_t at = 0; at < n; at += SW_PAGE - ((uintptr_t)p + at) % SW_PAGE)
        if (write)
            atomic_fetch_or((_Atomic char *)(p + at), 0);
        else
            (void)*(volatile char *)(p + at);
}

/* One call moves at most MAX_RW_COUNT bytes (2 GiB less a page), and ends where
 * memory is missing. */
static int cma(long number, pid_t pid, char *local, struct iovec *there,
               unsigned long n)
{
    bool touched = false;
    if (refused(SW_DOOR_CMA, EPERM))
        return -1;
    while (n) {
        struct iovec here = {local, 0};
        for (unsigned long i = 0; i < n; i++)
            here.iov_len += there[i].iov_len;
        long moved = syscall(number, (long)pid, &here, 1L, there, n, 0L);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved == 0 && here.iov_len)
            errno = EFAULT;
        if (moved <= 0 && here.iov_len && errno == EFAULT && !touched) {
            touch(local, here.iov_len, number == SYS_process_vm_readv);
            touched = true;
            continue;
        }
        if (moved < 0 || (moved == 0 && here.iov_len))
            return -1;
        local += moved;
        for (; n && (size_t)moved >= there->iov_len; there++, n--)
            moved -= (long)there->iov_len;
        if (n) {
            there->iov_base = (char *)there->iov_base + moved;
            there->iov_len -= (size_t)moved;
        }
        touched = false;
    }
    return 0;
}

int sw_os_cma_read(pid_t pid, void *to, uint64_t from, size_t n)
{
    struct iovec there = {(void *)(uintptr_t)from, n};
    return cma(SYS_process_vm_readv, pid, to, &there, 1);
}

int sw_os_cma_write(pid_t pid, uint64_t to, const void *from, size_t n)
{
    struct iovec there = {(void *)(uintptr_t)to, n};
    return cma(SYS_process_vm_writev, pid, (char *)(uintptr_t)from, &there, 1);
}

#define PIECES 64 /* of one call */

int sw_os_cma_pieces(pid_t pid, bool write, void *local,
                     const sw_os_piece_t *piece, int n)
{
    char *at = local;
    int result = 0, some;
    for (int i = 0; i < n && result == 0; i += some) {
        struct iovec there[PIECES];
        size_t bytes = 0;
        some = n - i < PIECES ? n - i : PIECES;
        for (int k = 0; k < some; k++) {
            there[k] = (struct iovec){(void *)(uintptr_t)piece[i + k].at,
                                      piece[i + k].bytes};
            bytes += piece[i + k].bytes;
        }
        result = cma(write ? SYS_process_vm_writev : SYS_process_vm_readv, pid,
                     at, there, (unsigned long)some);
        at += bytes;
    }
    return result;
}

/* /proc/PID/stat, of a process or a thread: "PID (NAME) STATE ..."; the name
 * may have any character. 1: `state` is where the state is in `text`, which has
 * the path; else as sw_os_process_start. */
static int read_stat(char *text, size_t room, char **state)
{
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT && access("/proc/self/stat", F_OK) == 0 ? 0 : -1;
    ssize_t n = read(fd, text, room - 1);
    int error = errno;
    close(fd);
    if (n <= 0)
        return n < 0 && error == ESRCH ? 0 : -1;
    text[n] = '\0';
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return -1;
    *state = at + 2;
    return 1;
}

int sw_os_thread_sleeps(pid_t pid, pid_t thread)
{
    char text[1024], *at;
    snprintf(text, sizeof text, "/proc/%d/task/%d/stat", (int)pid, (int)thread);
    int there = read_stat(text, sizeof text, &at);
    return there == 1 ? *at == 'S' || *at == 'D' : there == 0 ? 1 : -1;
}

uint64_t sw_os_waits(void)
{
    struct rusage use;
    return getrusage(RUSAGE_THREAD, &use) ? 0 : (uint64_t)use.ru_nvcsw;
}

/* Not by the times that getrusage tells, which lag behind by a tick. */
sw_os_core_t sw_os_core(void)
{
    struct rusage use;
    struct timespec ran;
    if (getrusage(RUSAGE_THREAD, &use) ||
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran))
        return (sw_os_core_t){0, 0, 0};
    return (sw_os_core_t){(uint64_t)ran.tv_sec * 1000000000 +
                              (uint64_t)ran.tv_nsec,
                          (uint64_t)use.ru_nvcsw, (uint64_t)use.ru_nivcsw};
}

pid_t sw_os_thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* The 20th word from the state on is the start. */
int sw_os_process_start(pid_t pid, uint64_t *start)
{
    char text[1024], *at;
    snprintf(text, sizeof text, "/proc/%d/stat", (int)pid);
    int there = read_stat(text, sizeof text, &at);
    if (there != 1)
        return there;
    if (*at == 'Z' || *at == 'X')
        return 0;
    for (int word = 0; word < 19; word++) {
        at = strchr(at, ' ');
        if (!at)
            return -1;
        at++;
    }
    *start = strtoull(at, NULL, 10);
    return 1;
}

int sw_os_allow_attach(void)
{
    return prctl(PR_SET_PTRACER, -1L, 0L, 0L, 0L);
}

/* Time, waiting, the machine ------------------------------------------ */

uint64_t sw_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Not by sched_yield, which is the front's (front/yield.c). */
void sw_os_yield(void)
{
    syscall(SYS_sched_yield);
}

void sw_os_nap(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

void sw_os_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    if (sw_unlikely(sw_os_refused(SW_DOOR_FUTEX))) {
        nanosleep(&t, NULL);
        return;
    }
    syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void sw_os_futex_wake_all(_Atomic uint32_t *word)
{
    if (sw_unlikely(sw_os_refused(SW_DOOR_FUTEX)))
        return;
    syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}

/* The stack holds no buffers; sanitizers want more than the least. */
#define STACK ((size_t)256 << 10)

/* What a thread's stack must hold before its first call: libc puts the static
 * thread-local data of all libraries there, and programs may have megabytes.
 * glibc tells runtimes of other languages how much that is. */
static size_t least_stack(const pthread_attr_t *attributes)
{
    size_t (*tell)(const pthread_attr_t *);
    *(void **)&tell = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
    return tell ? tell(attributes) : 0;
}

#define STACK_MOST ((size_t)1 << 30)

int sw_os_thread(pthread_t *thread, void *(*run)(void *))
{
    if (refused(SW_DOOR_THREAD, EAGAIN))
        return -1;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    size_t stack = STACK + sw_round_up(least_stack(&attributes), SW_PAGE);
    int error;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    do { /* EINVAL: too small after all */
        pthread_attr_setstacksize(&attributes, stack);
        error = pthread_create(thread, &attributes, run, NULL);
        stack *= 4;
    } while (error == EINVAL && stack <= STACK_MOST);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(*thread, "straightway");
    errno = error;
    return error ? -1 : 0;
}

void sw_os_random(void *to, size_t n)
{
    char *p = to;
    while (n) {
        long got = syscall(SYS_getrandom, p, n, 0L);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        } else if (got < 0 && errno != EINTR) {
            /* No getrandom: the clock and the process id, mixed. The tokens
             * made of it are checked for chance equality, not for secrecy. */
            uint64_t x = sw_os_now() ^ ((uint64_t)getpid() << 32) ^
                         (uint64_t)(uintptr_t)p;
            for (; n; n--, p++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                *p = (char)(x >> 56);
            }
        }
    }
}

int sw_os_affinity_all(uint64_t *mask)
{
    int count = 0;
    memset(mask, 0, SW_OS_CPU_WORDS * 8);
    if (syscall(SYS_sched_getaffinity, 0L, (size_t)SW_OS_CPU_WORDS * 8, mask) >
        0)
        for (int i = 0; i < SW_OS_CPU_WORDS; i++)
            count += __builtin_popcountll(mask[i]);
    if (!count)
        mask[0] = count = 1;
    return count;
}

void sw_os_thread_follow(pthread_t thread)
{
    uint64_t mask[SW_OS_CPU_WORDS];
    sw_os_affinity_all(mask);
    pthread_setaffinity_np(thread, sizeof mask, (cpu_set_t *)(void *)mask);
}

int sw_os_affinity(uint64_t *mask, int words)
{
    uint64_t full[SW_OS_CPU_WORDS];
    int count = sw_os_affinity_all(full);
    memcpy(mask, full, (size_t)words * 8);
    return count;
}

int sw_os_read_text(const char *path, char *to, size_t room)
{
    if (refused(SW_DOOR_TOPOLOGY, ENOENT))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, to, room - 1);
    close(fd);
    if (n < 0)
        return -1;
    to[n] = '\0';
    return (int)n;
}

#define GROUPS_ROOM 1024

/* The lesser of two limits; 0 is none. */
static double lesser(double a, double b)
{
    return !a || (b && b < a) ? b : a;
}

/* "quota period" or "max period" of a control group, in us. */
static double quota_of(const char *folder)
{
    char path[GROUPS_ROOM + 64], text[64];
    double quota, period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", folder);
    return sw_os_read_text(path, text, sizeof text) > 0 &&
                   sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0
               ? quota / period
               : 0;
}

/* Of version 1 a container sees its own group alone. */
static double old_quota(void)
{
    char quota[32], period[32];
    return sw_os_read_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota,
                           sizeof quota) > 0 &&
                   sw_os_read_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us",
                                   period, sizeof period) > 0 &&
                   atof(quota) > 0 && atof(period) > 0
               ? atof(quota) / atof(period)
               : 0;
}

double sw_os_quota(void)
{
    char groups[GROUPS_ROOM];
    double least = old_quota();
    if (sw_os_read_text("/proc/self/cgroup", groups, sizeof groups) <= 0)
        return least;
    char *folder = strstr(groups, "0::/");
    if (!folder)
        return least;
    folder += 3;
    folder[strcspn(folder, "\n")] = '\0';
    while (true) {
        least = lesser(least, quota_of(folder));
        char *slash = strrchr(folder, '/');
        if (!slash || !*folder)
            return least;
        *slash = '\0';
    }
}

char **sw_os_environment_without(const char *const *without)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **to = calloc(n + 1, sizeof *to);
    for (size_t i = 0; to && i < n; i++) {
        bool out = false;
        for (const char *const *w = without; *w; w++)
            out |= !strncmp(environ[i], *w, strlen(*w));
        if (!out)
            to[kept++] = environ[i];
    }
    return to;
}

/* SIGXFSZ comes to the thread that writes. One that is pending already is the
 * program's. */
int sw_os_write_all(int fd, const void *bytes, size_t n)
{
    const struct timespec now = {0, 0};
    const char *at = bytes;
    sigset_t limit, before, pending;
    int error = 0;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    while (n && !error) {
        ssize_t done = write(fd, at, n);
        if (done > 0) {
            at += done;
            n -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            error = done ? errno : ENOSPC;
        }
    }
    if (error == EFBIG && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error ? -1 : 0;
}

size_t sw_os_memory_total(void)
{
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES);
    size_t total = pages * (size_t)sysconf(_SC_PAGESIZE);
    char text[64];
    int fd = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        if (n > 0) {
            text[n] = '\0';
            size_t limit = strtoull(text, NULL, 10);
            if (limit && limit < total)
                total = limit;
        }
    }
    return total;
}

size_t sw_os_address_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}
