/*
 * cores.c - see cores.h.
 *
 * Two threads, each bound to its processor, measure one pair. They pass a
 * number to and fro in two cache lines, of which each has one writer:
 *
 *   thread 0   ping = n, waits for pong == n
 *   thread 1   waits for ping == n, pong = n
 *
 * The release store of a line comes after the writer's other stores, and the
 * acquiring reader sees them. So the same two lines also hand the buffer over
 * between writer and reader. The least of several batches counts: a figure is
 * what the machine can do.
 */
#include "cores.h"

#include "node/base/base.h"
#include "node/os/os.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIPS = 1000, BATCHES = 8, READS = 12 };
#define BYTES ((size_t)1 << 20)
#define WORDS (BYTES / sizeof(uint64_t))

typedef struct {
    _Alignas(SW_PAIR) _Atomic uint32_t ping;
    _Alignas(SW_PAIR) _Atomic uint32_t pong;
    _Alignas(SW_PAIR) int cpu[2];
    _Atomic int refused;        /* a thread has not its processor */
    bool wrong;                 /* a reader saw other data */
    uint64_t *buffer[2];        /* [i]: the reader is thread i */
    double trip_ns, read_ns[2]; /* [i]: likewise */
} pair_t;

static bool bind_to(int cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    if (!set)
        return false;
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    bool bound = sched_setaffinity(0, size, set) == 0;
    CPU_FREE(set);
    return bound;
}

static void wait_for(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        sw_os_pause();
}

/* The n-th exchange: thread 0 begins. */
static void meet(pair_t *pair, int me, uint32_t n)
{
    if (me)
        wait_for(&pair->ping, n);
    atomic_store_explicit(me ? &pair->pong : &pair->ping, n,
                          memory_order_release);
    if (!me)
        wait_for(&pair->pong, n);
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static uint32_t round_trips(pair_t *pair, int me, uint32_t n)
{
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = sw_os_now();
        for (int i = 0; i < TRIPS; i++)
            meet(pair, me, ++n);
        if (!me)
            pair->trip_ns = least(pair->trip_ns,
                                  (double)(sw_os_now() - start) / TRIPS);
    }
    return n;
}

/* The writer fills the reader's buffer, the reader adds its words up. The
 * writer touches the buffer first: it comes from the writer's memory. */
static uint32_t reads(pair_t *pair, int me, int reader, uint32_t n)
{
    uint64_t *buffer = pair->buffer[reader];
    for (uint64_t value = 1; value <= READS; value++) {
        if (me != reader)
            for (size_t i = 0; i < WORDS; i++)
                buffer[i] = value + i;
        meet(pair, me, ++n);
        if (me == reader) {
            uint64_t start = sw_os_now(), sum = 0;
            for (size_t i = 0; i < WORDS; i++)
                sum += buffer[i];
            __asm__ volatile("" ::"r"(sum) : "memory");
            pair->read_ns[me] = least(pair->read_ns[me],
                                      (double)(sw_os_now() - start));
            pair->wrong |= sum != WORDS * value + WORDS * (WORDS - 1) / 2;
        }
        meet(pair, me, ++n);
    }
    return n;
}

static void work(pair_t *pair, int me)
{
    if (!bind_to(pair->cpu[me]))
        atomic_store(&pair->refused, 1);
    uint32_t n = 1;
    meet(pair, me, n);
    if (atomic_load(&pair->refused))
        return;
    n = round_trips(pair, me, n);
    n = reads(pair, me, 1, n);
    reads(pair, me, 0, n);
}

static void *second(void *pair)
{
    work(pair, 1);
    return NULL;
}

static void *first(void *pair)
{
    work(pair, 0);
    return NULL;
}

/* Measure one pair, with buffers of its own. False: refused, no memory. */
static bool measure(pair_t *pair, int a, int b)
{
    pthread_t thread[2];
    memset(pair, 0, sizeof *pair);
    pair->cpu[0] = a;
    pair->cpu[1] = b;
    char *memory = sw_os_map_private(NULL, 2 * BYTES);
    pair->buffer[0] = (uint64_t *)memory;
    pair->buffer[1] = (uint64_t *)(memory + BYTES);
    if (!memory || pthread_create(&thread[0], NULL, first, pair))
        return false;
    if (pthread_create(&thread[1], NULL, second, pair)) {
        fputs("straightway-probe: no thread\n", stderr);
        exit(1);
    }
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    sw_os_unmap(memory, 2 * BYTES);
    return !pair->refused;
}

/* The numbers of a list; their count, 0 where it is none. */
static int read_list(const char *text, int **to)
{
    int n = 0;
    *to = malloc((strlen(text) + 1) * sizeof **to);
    for (char *end; *to && *text; text = *end == ',' ? end + 1 : end) {
        long cpu = strtol(text, &end, 10);
        if (end == text || cpu < 0 || cpu >= 65536 || (*end && *end != ','))
            return 0;
        (*to)[n++] = (int)cpu;
    }
    return n;
}

static void put_matrix(const char *name, const double *cell, int n)
{
    printf(",\n \"%s\": [", name);
    for (int a = 0; a < n; a++) {
        printf("%s[", a ? ",\n  " : "");
        for (int b = 0; b < n; b++)
            printf(a == b ? "%snull" : "%s%.5g", b ? ", " : "",
                   cell[a * n + b]);
        putchar(']');
    }
    putchar(']');
}

static bool measure_all(const int *cpu, int n, double *trip, double *read)
{
    static pair_t pair;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            if (!measure(&pair, cpu[a], cpu[b])) {
                fprintf(stderr,
                        "straightway-probe: the system refuses "
                        "processor %d or %d, or memory\n",
                        cpu[a], cpu[b]);
                return false;
            }
            if (pair.wrong) {
                fprintf(stderr,
                        "straightway-probe: processors %d and %d see "
                        "different data\n",
                        cpu[a], cpu[b]);
                return false;
            }
            trip[a * n + b] = trip[b * n + a] = pair.trip_ns;
            read[a * n + b] = (double)BYTES / pair.read_ns[1];
            read[b * n + a] = (double)BYTES / pair.read_ns[0];
        }
    return true;
}

int sw_put_cores(const char *list)
{
    int *cpu, n = read_list(list, &cpu);
    double *trip = n ? calloc((size_t)n * (size_t)n, sizeof *trip) : NULL;
    double *read = n ? calloc((size_t)n * (size_t)n, sizeof *read) : NULL;
    if (!trip || !read) {
        fputs("straightway-probe: --cores needs a list like 0,2,4\n", stderr);
        return 2;
    }
    if (!measure_all(cpu, n, trip, read))
        return 1;
    fputs("{\"processors\": [", stdout);
    for (int i = 0; i < n; i++)
        printf("%s%d", i ? ", " : "", cpu[i]);
    putchar(']');
    put_matrix("round_trip", trip, n);
    put_matrix("read", read, n);
    puts("}");
    free(read);
    free(trip);
    free(cpu);
    return 0;
}
