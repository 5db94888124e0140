/*
 * probe.c - straightway-probe: what this machine gives, found by doing it.
 *
 * Each service that the library uses is tried between two child processes
 * that are each other's siblings, as ranks are: a parent may read its child's
 * memory where a sibling may not, so trying it any other way would lie. Then
 * the floors under every figure of the benchmark are measured: no message is
 * faster than a cache line's way between two cores, no transfer faster than
 * memcpy.
 *
 *   straightway-probe [--services | --floors | --settings | --cores LIST]
 *
 * One JSON object on stdout. All doors to the system are those of the node
 * room, so STRAIGHTWAY_REFUSE shows here what it does to the library.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/os/os.h"
#include "node/base/settings.h"
#include "topology/sysfs.h"
#include "cores.h"
#include "streamed.h"

#define PROBE_BYTES ((size_t)8 << 20)

/* What the two children share. Each flag has lines of its own. */
typedef struct {
    _Alignas(SW_PAIR) _Atomic uint32_t ping;
    _Alignas(SW_PAIR) _Atomic uint32_t pong;
    _Alignas(SW_PAIR) _Atomic uint32_t ready[2];
    _Atomic uint32_t step[2];
    pid_t pid[2];
    int fd[2];
    sw_file_id_t file[2];
    uint64_t buffer[2];
    int cma_read[2], cma_write[2], peer_fd[2], futex; /* 0 or errno */
    int ptracer_helped;
    double round_trip, line, read_us[8], cma_us[8];
} shared_t;

static shared_t *shared;

/* One process of the pair --------------------------------------------- */

/* Wait until the other has come as far; a dead peer ends the wait. */
static bool meet(int me, uint32_t step)
{
    atomic_store(&shared->step[me], step);
    uint64_t limit = sw_os_now() + 20000000000u;
    while (atomic_load(&shared->step[!me]) < step) {
        if (sw_os_now() > limit)
            return false;
        sw_os_yield();
    }
    return true;
}

static void pin(int cpu)
{
    if (cpu < 0)
        return;
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    if (!set)
        return;
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    sched_setaffinity(0, size, set);
    CPU_FREE(set);
}

static bool same(const unsigned char *p, unsigned char what, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != what)
            return false;
    return true;
}

/* Read the other's private memory, and write into its second half. */
static void try_cma(int me, unsigned char *mine)
{
    int other = !me;
    unsigned char got[4096];
    memset(got, 0, sizeof got);
    errno = 0;
    if (sw_os_cma_read(shared->pid[other], got, shared->buffer[other],
                       sizeof got))
        shared->cma_read[me] = errno ? errno : EIO;
    else
        shared->cma_read[me] = same(got, (unsigned char)('A' + other),
                                    sizeof got)
                                   ? 0
                                   : EIO;
    memset(got, 'a' + me, sizeof got);
    errno = 0;
    if (sw_os_cma_write(shared->pid[other],
                        shared->buffer[other] + PROBE_BYTES / 2, got,
                        sizeof got))
        shared->cma_write[me] = errno ? errno : EIO;
    else
        shared->cma_write[me] = 0;
    (void)mine;
}

static void *map_peer(int other, int *why)
{
    int fd = sw_os_peer_fd(shared->pid[other], shared->fd[other],
                           shared->file[other]);
    if (fd < 0) {
        *why = errno ? errno : EIO;
        return NULL;
    }
    unsigned char *at = sw_os_map_shared(NULL, PROBE_BYTES, fd, 0);
    close(fd);
    if (!at) {
        *why = errno ? errno : ENOMEM;
        return NULL;
    }
    *why = same(at, (unsigned char)('A' + other), 4096) ? 0 : EIO;
    return at;
}

/* A futex wake must reach a sleeper in another process. */
static int try_futex(int me)
{
    if (me == 0) {
        uint64_t start = sw_os_now();
        while (!atomic_load(&shared->ready[0])) {
            sw_os_futex_wait(&shared->ready[0], 0, 1000000000u);
            if (sw_os_now() - start > 900000000u)
                return ETIMEDOUT;
        }
        return 0;
    }
    usleep(30000);
    atomic_store(&shared->ready[0], 1);
    sw_os_futex_wake_all(&shared->ready[0]);
    return 0;
}

/* The floors ------------------------------------------------------------ */

static const size_t sizes[] = {1024,   4096,    16384,  65536,
                               262144, 1048576, 4194304};
enum { SIZES = sizeof sizes / sizeof *sizes };

static double us_since(uint64_t start)
{
    return (double)(sw_os_now() - start) * 1e-3;
}

/* The least of several batches: a floor is what the machine can do. */
static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void wait_for(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        sw_os_pause();
}

static void round_trip(int me)
{
    const uint32_t trips = 2000;
    uint32_t n = 0;
    for (int batch = 0; batch < 20; batch++) {
        uint64_t start = sw_os_now();
        for (uint32_t i = 0; i < trips; i++) {
            n++;
            if (me == 0) {
                atomic_store_explicit(&shared->ping, n, memory_order_release);
                wait_for(&shared->pong, n);
            } else {
                wait_for(&shared->ping, n);
                atomic_store_explicit(&shared->pong, n, memory_order_release);
            }
        }
        if (me == 0)
            shared->round_trip = least(shared->round_trip,
                                       us_since(start) / trips);
    }
}

/* Lines that stream one way: the writer runs up to `ahead` lines ahead, the
 * reader acknowledges lazily. What a rooted operation in a loop can reach. */
static void stream(int me, unsigned char *ring)
{
    enum { AHEAD = 64 };
    const uint32_t lines = 20000;
    uint32_t n = 0;
    atomic_store(me ? &shared->pong : &shared->ping, 0);
    if (!meet(me, 90))
        return;
    for (int batch = 0; batch < 10; batch++) {
        uint64_t start = sw_os_now();
        for (uint32_t i = 0; i < lines; i++) {
            n++;
            _Atomic uint32_t *line = (_Atomic uint32_t *)(ring +
                                                          n % AHEAD * SW_PAIR);
            if (me == 0) {
                while ((int32_t)(n - atomic_load_explicit(
                                         &shared->pong,
                                         memory_order_acquire)) >= AHEAD)
                    sw_os_pause();
                atomic_store_explicit(line, n, memory_order_release);
            } else {
                wait_for(line, n);
                if (n % (AHEAD / 4) == 0)
                    atomic_store_explicit(&shared->pong, n,
                                          memory_order_release);
            }
        }
        if (me == 1)
            shared->line = least(shared->line, us_since(start) / lines);
    }
}

static int calls_for(size_t n)
{
    return n >= 1 << 20 ? 4 : n >= 65536 ? 20 : 400;
}

static void bandwidth(unsigned char *to, const unsigned char *from, pid_t pid,
                      double *result)
{
    for (int s = 0; s < SIZES; s++) {
        int calls = calls_for(sizes[s]);
        for (int batch = 0; batch < 12; batch++) {
            uint64_t start = sw_os_now();
            for (int i = 0; i < calls; i++) {
                if (pid) {
                    if (sw_os_cma_read(pid, to, (uint64_t)(uintptr_t)from,
                                       sizes[s]))
                        return;
                } else {
                    memcpy(to, from, sizes[s]);
                    __asm__ volatile("" ::"r"(to) : "memory");
                }
            }
            result[s] = least(result[s], us_since(start) / calls);
        }
    }
}

static void child(int me, const int *cpu, bool floors)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(cpu[me]);
    unsigned char *mine = sw_os_map_private(NULL, PROBE_BYTES);
    if (!mine)
        _exit(1);
    memset(mine, 'A' + me, PROBE_BYTES);
    shared->pid[me] = getpid();
    shared->buffer[me] = (uint64_t)(uintptr_t)mine;
    shared->fd[me] = sw_os_memfd("straightway-probe");
    shared->file[me] = sw_os_file_id(shared->fd[me]);
    unsigned char *own = NULL;
    if (shared->fd[me] >= 0 && !sw_os_resize(shared->fd[me], PROBE_BYTES))
        own = sw_os_map_shared(NULL, PROBE_BYTES, shared->fd[me], 0);
    if (own)
        memset(own, 'A' + me, PROBE_BYTES);
    if (!meet(me, 1))
        _exit(1);

    try_cma(me, mine);
    if (!meet(me, 2))
        _exit(1);
    if (shared->cma_read[0] || shared->cma_read[1]) {
        sw_os_allow_attach();
        if (!meet(me, 3))
            _exit(1);
        try_cma(me, mine);
        shared->ptracer_helped = 1;
    } else {
        meet(me, 3);
    }
    if (!meet(me, 4))
        _exit(1);
    if (!shared->cma_write[!me] &&
        !same(mine + PROBE_BYTES / 2, (unsigned char)('a' + !me), 4096))
        shared->cma_write[!me] = EIO;

    unsigned char *peer = NULL;
    if (own && shared->fd[!me] >= 0)
        peer = map_peer(!me, &shared->peer_fd[me]);
    else
        shared->peer_fd[me] = ENOENT;
    int why = try_futex(me);
    if (me == 0)
        shared->futex = why;
    if (!meet(me, 5))
        _exit(1);

    if (floors) {
        if (cpu[0] != cpu[1]) {
            round_trip(me);
            if (!meet(me, 6))
                _exit(1);
            /* the ring lies in memory that both have: the shared page's end */
            stream(me, (unsigned char *)shared + sizeof *shared);
        }
        if (!meet(me, 91))
            _exit(1);
        if (me == 0) {
            if (peer && !shared->peer_fd[0])
                bandwidth(mine, peer, 0, shared->read_us);
            if (!shared->cma_read[0])
                bandwidth(mine, (void *)(uintptr_t)shared->buffer[1],
                          shared->pid[1], shared->cma_us);
        }
        /* The other sleeps meanwhile: it must not share the core. */
        if (me == 0) {
            atomic_store(&shared->ready[1], 1);
            sw_os_futex_wake_all(&shared->ready[1]);
        } else {
            for (int i = 0; i < 300 && !atomic_load(&shared->ready[1]); i++)
                sw_os_futex_wait(&shared->ready[1], 0, 100000000u);
        }
    }
    meet(me, 92);
    _exit(0);
}

/* What one process can find out ------------------------------------------ */

/* 2 MiB aligned alike in address and file, touched: is it huge? Read from the
 * process's own smaps: 1 yes, 0 no, -1 unknown. */
static int is_huge(const void *p, const char *field)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    int found = -1;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to, kb;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-')) {
            inside = (unsigned long)p >= from && (unsigned long)p < to;
        } else if (inside && !strncmp(line, field, strlen(field)) &&
                   sscanf(line + strlen(field), ": %lu", &kb) == 1) {
            found = kb > 0;
            break;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

static void try_huge(int fd, int *at_touch, int *collapsed, int *anonymous)
{
    const size_t huge = (size_t)2 << 20;
    *at_touch = *collapsed = *anonymous = -1;
    char *at = sw_os_reserve(2 * huge, huge);
    if (at && fd >= 0 && !sw_os_resize(fd, 2 * huge) &&
        sw_os_map_shared(at, 2 * huge, fd, 0)) {
        *at_touch = *collapsed = 0;
        if (!sw_os_huge_advice(at, 2 * huge)) {
            memset(at, 1, huge);
            *at_touch = is_huge(at, "ShmemPmdMapped") == 1;
        } else {
            memset(at, 1, huge);
        }
        if (*at_touch)
            *collapsed = 1;
        else if (!sw_os_huge_collapse(at, huge))
            *collapsed = is_huge(at, "ShmemPmdMapped") == 1;
        sw_os_unmap(at, 2 * huge);
    }
    char *heap = sw_os_reserve(2 * huge, huge);
    if (heap && sw_os_map_private(heap, 2 * huge)) {
        *anonymous = 0;
        if (!sw_os_huge_advice(heap, 2 * huge)) {
            memset(heap, 1, huge);
            *anonymous = is_huge(heap, "AnonHugePages") == 1;
        }
        sw_os_unmap(heap, 2 * huge);
    }
}

/* JSON -------------------------------------------------------------------- */

static void put_errno(const char *name, int error)
{
    printf("  \"%s\": {\"works\": %s, \"error\": ", name,
           error ? "false" : "true");
    if (error)
        printf("\"%s\"},\n", strerror(error));
    else
        puts("null},");
}

static const char *truth(int value)
{
    return value < 0 ? "null" : value ? "true" : "false";
}

static void put_rates(const char *name, const double *us, bool last)
{
    printf("    \"%s\": {", name);
    bool first = true;
    for (int i = 0; i < SIZES; i++)
        if (us[i] > 0) {
            printf("%s\"%zu\": %.5g", first ? "" : ", ", sizes[i], us[i]);
            first = false;
        }
    printf("}%s\n", last ? "" : ",");
}

static void put_string(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    putchar('"');
}

/* What stands for a kind, and its default as a user would write it. */
#define TYPE_BOOL "switch"
#define TYPE_SIZE "size"
#define TYPE_INT "number"
#define TYPE_TEXT "text"
#define TYPE_AUTO_BOOL "auto, on or off"
#define TYPE_AUTO_SIZE "size"
#define TYPE_AUTO_INT "number"
#define TYPE_NONE_INT "number"
#define SHOWN_BOOL(value) ((value) ? "on" : "off")
#define SHOWN_SIZE(value) #value
#define SHOWN_INT(value) #value
#define SHOWN_TEXT(value) value /* without the quotes of its spelling */
#define SHOWN_AUTO_BOOL(value) "auto"
#define SHOWN_AUTO_SIZE(value) "auto"
#define SHOWN_AUTO_INT(value) "auto"
#define SHOWN_NONE_INT(value) "none"

static void put_setting(const char *type, const char *name, bool inner,
                        const char *initial, const char *help, bool *first)
{
    char option[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof option; n++)
        option[n] = name[n] == '_' ? '-' : (char)(name[n] | 32);
    option[n] = 0;
    printf("%s  {\"name\": \"STRAIGHTWAY_%s\", \"option\": \"--%s\", "
           "\"inner\": %s, \"type\": \"%s\", \"default\": ",
           *first ? "" : ",\n", name, option, truth(inner), type);
    *first = false;
    put_string(initial);
    printf(", \"help\": ");
    put_string(help);
    putchar('}');
}

static void print_settings(void)
{
    bool first = true;
    puts("[");
#define SW_SETTING(KIND, field, NAME, value, help) \
    put_setting(TYPE_##KIND, #NAME, false, SHOWN_##KIND(value), help, &first);
#define SW_INNER_SETTING(KIND, field, NAME, value, help) \
    put_setting(TYPE_##KIND, #NAME, true, SHOWN_##KIND(value), help, &first);
#include "node/base/settings.def"
    puts("\n]");
}

/* The first two processors this process may use, on different cores where
 * there are two: hardware threads of one core share its caches and would
 * promise floors that two ranks on two cores cannot reach. */
static void choose_cpus(int *cpu)
{
    sw_cpus_t allowed, core;
    sw_os_affinity_all(allowed.word);
    cpu[0] = sw_cpus_next(&allowed, 0);
    cpu[1] = cpu[0] < 0 ? -1 : sw_cpus_next(&allowed, cpu[0] + 1);
    if (cpu[1] < 0)
        cpu[1] = cpu[0];
    else if (sw_sysfs_core(cpu[0], &core))
        for (int i = cpu[1]; i >= 0; i = sw_cpus_next(&allowed, i + 1))
            if (!sw_cpus_has(&core, i)) {
                cpu[1] = i;
                break;
            }
}

/* Microseconds to make a private page shared (node/arena/show.h); 0: not
 * possible. */
static double show_us(int fd)
{
    char *p = sw_os_map_private(NULL, PROBE_BYTES);
    if (!p || fd < 0 || sw_os_resize(fd, PROBE_BYTES))
        return 0;
    memset(p, 1, PROBE_BYTES);
    uint64_t start = sw_os_now();
    int rc = sw_os_show(fd, p, PROBE_BYTES, 0);
    double us = (double)(sw_os_now() - start) / 1000;
    sw_os_unmap(p, PROBE_BYTES);
    return rc ? 0 : us * SW_PAGE / PROBE_BYTES;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "--settings")) {
        print_settings();
        return 0;
    }
    if (!strcmp(what, "--cores") && argc == 3)
        return sw_put_cores(argv[2]);
    if (*what && strcmp(what, "--services") && strcmp(what, "--floors")) {
        fputs("usage: straightway-probe [--services | --floors | "
              "--settings | --cores LIST]\n",
              stderr);
        return 2;
    }
    bool floors = strcmp(what, "--services") != 0;
    sw_settings_load();
    signal(SIGXFSZ, SIG_IGN);

    shared = mmap(NULL, sizeof *shared + 64 * SW_PAIR, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("straightway-probe: shared memory");
        return 1;
    }
    int cpu[2];
    choose_cpus(cpu);
    /* Silence is failure: what is never tried must not read as working. */
    for (int i = 0; i < 2; i++)
        shared->cma_read[i] = shared->cma_write[i] = shared->peer_fd[i] = EIO;
    shared->futex = EIO;
    fflush(stdout);
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] < 0) {
            perror("straightway-probe: fork");
            return 1;
        }
        if (children[i] == 0)
            child(i, cpu, floors);
    }
    for (int i = 0; i < 2; i++)
        waitpid(children[i], NULL, 0);

    errno = 0;
    int fd = sw_os_memfd("straightway-probe");
    int memfd = fd < 0 ? (errno ? errno : EIO) : 0;
    int at_touch, collapsed, anonymous;
    try_huge(fd, &at_touch, &collapsed, &anonymous);

    puts("{");
    put_errno("memfd", memfd);
    put_errno("peer_mapping",
              shared->peer_fd[0] ? shared->peer_fd[0] : shared->peer_fd[1]);
    put_errno("cma_read",
              shared->cma_read[0] ? shared->cma_read[0] : shared->cma_read[1]);
    put_errno("cma_write", shared->cma_write[0] ? shared->cma_write[0]
                                                : shared->cma_write[1]);
    printf("  \"cma_needs_ptracer\": %s,\n",
           truth(shared->ptracer_helped && !shared->cma_read[0] &&
                 !shared->cma_read[1]));
    put_errno("futex", shared->futex);
    printf("  \"huge\": {\"shmem_at_touch\": %s, \"shmem_collapse\": %s, "
           "\"anonymous\": %s},\n",
           truth(at_touch), truth(collapsed), truth(anonymous));
    printf("  \"memory\": %zu,\n", sw_os_memory_total());
    printf("  \"page_size\": %zu,\n", sw_os_page_size());
    char machine[SW_OS_MACHINE];
    sw_os_machine(machine);
    printf("  \"machine\": \"%s\",\n", machine);
    if (sw_os_address_limit() == SIZE_MAX)
        puts("  \"address_limit\": null,");
    else
        printf("  \"address_limit\": %zu,\n", sw_os_address_limit());
    printf("  \"cpus\": [%d, %d]", cpu[0], cpu[1]);
    if (floors) {
        static double copy_us[SIZES];
        pin(cpu[0]);
        unsigned char *from = malloc(PROBE_BYTES), *to = malloc(PROBE_BYTES);
        if (from && to) {
            memset(from, 1, PROBE_BYTES);
            memset(to, 2, PROBE_BYTES);
            bandwidth(to, from, 0, copy_us);
        }
        puts(",\n  \"floors\": {");
        if (shared->round_trip > 0)
            printf("    \"round_trip\": %.5g,\n    \"line\": %.5g,\n",
                   shared->round_trip, shared->line);
        else
            puts("    \"round_trip\": null,\n    \"line\": null,");
        printf("    \"show_page\": %.4g,\n", show_us(fd));
        put_rates("memcpy", copy_us, false);
        sw_put_streamed();
        put_rates("peer_read", shared->read_us, false);
        put_rates("cma_read", shared->cma_us, true);
        printf("  }");
    }
    puts("\n}");
    return 0;
}
