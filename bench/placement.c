/*
 * placement.c - see placement.h.
 *
 * The system allows a process a set of processors (sched_getaffinity). Its
 * memory policy shows in a page that it touches first: move_pages tells the
 * NUMA domain of that page.
 *
 * Between two nodes their first ranks exchange messages, one pair after the
 * other. The other ranks sleep between looks at a barrier, so that they leave
 * the cores and the network alone.
 */
#include <mpi.h>

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling.h"
#include "placement.h"

#define PROCESSORS 65536
#define SMALL 8
#define LARGE (1 << 20)
#define BATCHES 5
#define NAP_NS 1000000

/* Text that grows ---------------------------------------------------------- */

typedef struct {
    char *text;
    size_t length;
    FILE *file;
} line_t;

static bool begin_line(line_t *line)
{
    line->file = open_memstream(&line->text, &line->length);
    return line->file != NULL;
}

/* What a rank knows -------------------------------------------------------- */

/* "0-3,8" */
static void put_processors(FILE *to)
{
    static cpu_set_t set[PROCESSORS / CPU_SETSIZE];
    const char *comma = "";
    if (sched_getaffinity(0, sizeof set, set))
        return;
    for (int cpu = 0; cpu < PROCESSORS; cpu++) {
        int first = cpu;
        while (cpu < PROCESSORS && CPU_ISSET_S(cpu, sizeof set, set))
            cpu++;
        if (cpu == first)
            continue;
        fprintf(to, cpu - first > 1 ? "%s%d-%d" : "%s%d", comma, first,
                cpu - 1);
        comma = ",";
    }
}

/* The NUMA domain of memory that this process touches now; -1: not known. */
static int find_memory(void)
{
    int domain = -1;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    *(volatile char *)page = 1;
    if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &domain, 0))
        domain = -1;
    munmap(page, size);
    return domain < 0 ? -1 : domain;
}

/* The text of a file, in which the caller has put one value of JSON. */
static bool put_file(const char *path, FILE *to)
{
    char block[4096];
    FILE *from = fopen(path, "r");
    if (!from)
        return false;
    for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;)
        fwrite(block, 1, n, to);
    return fclose(from) == 0;
}

static bool describe(line_t *line)
{
    char host[SW_NODE_NAME] = "";
    bool good = true;
    if (!begin_line(line))
        return false;
    gethostname(host, sizeof host - 1);
    fprintf(line->file,
            "{\"rank\": %d, \"node\": %d, \"host\": \"%s\", "
            "\"memory\": %d, \"cpus\": \"",
            sw_run.rank, sw_run.nodes.of[sw_run.rank], host, find_memory());
    put_processors(line->file);
    fputs("\"", line->file);
    if (strcmp(sw_run.plan->placement, "-")) {
        fputs(", \"tree\": ", line->file);
        good = put_file(sw_run.plan->placement, line->file);
    }
    fputs("}\n", line->file);
    return fclose(line->file) == 0 && good;
}

/* Rank 0 writes the lines of all, in the order of their ranks. */
static bool gather(const line_t *line, FILE *to)
{
    int mine = (int)line->length, *length = NULL, *at = NULL, good = 1;
    size_t total = 0;
    char *all = NULL;
    if (sw_run.rank == 0) {
        length = malloc((size_t)sw_run.ranks * sizeof *length);
        at = malloc((size_t)sw_run.ranks * sizeof *at);
        good = length && at;
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, sw_run.comm);
    if (good)
        MPI_Gather(&mine, 1, MPI_INT, length, 1, MPI_INT, 0, sw_run.comm);
    for (int r = 0; good && length && r < sw_run.ranks; r++) {
        at[r] = (int)total;
        total += (size_t)length[r];
    }
    if (good && length)
        good = total <= INT_MAX && (all = malloc(total)) != NULL;
    MPI_Bcast(&good, 1, MPI_INT, 0, sw_run.comm);
    if (good)
        MPI_Gatherv(line->text, mine, MPI_CHAR, all, length, at, MPI_CHAR, 0,
                    sw_run.comm);
    if (good && all)
        good = fwrite(all, 1, total, to) == total;
    free(all);
    free(at);
    free(length);
    return good;
}

/* Between nodes ------------------------------------------------------------ */

/* Seconds of one message, the least of some batches; on the lower rank. */
static double one_way(int partner, char *buffer, int bytes, int trips)
{
    double least = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = sw_now();
        for (int i = 0; i < trips; i++) {
            if (sw_run.rank < partner)
                MPI_Send(buffer, bytes, MPI_CHAR, partner, 0, sw_run.comm);
            MPI_Recv(buffer, bytes, MPI_CHAR, partner, 0, sw_run.comm,
                     MPI_STATUS_IGNORE);
            if (sw_run.rank > partner)
                MPI_Send(buffer, bytes, MPI_CHAR, partner, 0, sw_run.comm);
        }
        double share = (sw_now() - start) / (2 * trips);
        least = batch == 0 || share < least ? share : least;
    }
    return least;
}

static void sleep_until_all_are_here(void)
{
    MPI_Request request;
    MPI_Ibarrier(sw_run.comm, &request);
    for (int done = 0; !done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

static int first_of(int node)
{
    for (int r = 0; r < sw_run.ranks; r++)
        if (sw_run.nodes.of[r] == node)
            return r;
    return -1;
}

/* Two nodes' figures, from the lower first rank to rank 0's file. */
static void measure_pair(int a, int b, char *buffer, FILE *to)
{
    int one = first_of(a), other = first_of(b), low = one < other ? one : other;
    double times[2] = {0, 0};
    if (sw_run.rank == one || sw_run.rank == other) {
        int partner = sw_run.rank == one ? other : one;
        one_way(partner, buffer, LARGE, 1); /* connect, warm up */
        times[0] = one_way(partner, buffer, SMALL, 100);
        times[1] = one_way(partner, buffer, LARGE, 8);
    }
    sleep_until_all_are_here();
    MPI_Bcast(times, 2, MPI_DOUBLE, low, sw_run.comm);
    if (to)
        fprintf(to,
                "{\"between\": [%d, %d], \"latency_us\": %.5g, "
                "\"gbs\": %.5g}\n",
                a, b, 1e6 * times[0], LARGE / times[1] / 1e9);
}

static bool measure_between(FILE *to)
{
    char *buffer = calloc(1, LARGE);
    int good = buffer != NULL, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, sw_run.comm);
    for (int a = 0; all && a < sw_run.nodes.count; a++)
        for (int b = a + 1; b < sw_run.nodes.count; b++)
            measure_pair(a, b, buffer, to);
    free(buffer);
    return all;
}

bool sw_placement(bool (*start)(void))
{
    if (!start())
        return false;
    line_t line = {0};
    FILE *to = sw_output();
    int good = describe(&line), all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, sw_run.comm);
    if (all)
        all = gather(&line, to);
    free(line.text);
    if (all && sw_run.plan->between)
        all = measure_between(to);
    if (!all && sw_run.rank == 0)
        fputs("straightway-bench: a rank has no memory, or cannot read the "
              "description of its node\n",
              stderr);
    return all;
}
