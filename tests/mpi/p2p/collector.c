/*
 * collector.c - a garbage collector protects the pages of its heap against
 * writing, and learns from the fault which of them are written to. Messages and
 * collectives that fill such pages fault as the program itself does.
 *
 *   collector TURNS [drop]      `drop`: the ranks give their rights up first
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mpi/test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define PAGE 4096u
#define PAGES 512

static char *heap;
static volatile sig_atomic_t dirty[PAGES];

static void opens(int number, siginfo_t *info, void *context)
{
    (void)context;
    char *at = info->si_addr;
    if (at < heap || at >= heap + PAGES * PAGE) {
        signal(number, SIG_DFL);
        return;
    }
    size_t page = (size_t)(at - heap) / PAGE;
    dirty[page] = 1;
    mprotect(heap + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static void protect(void)
{
    memset((void *)(uintptr_t)dirty, 0, sizeof dirty);
    CHECK(!mprotect(heap, PAGES * (size_t)PAGE, PROT_READ), "no protection");
}

static void filled(int turn, const char *what, size_t n, char key)
{
    for (size_t i = 0; i < n; i++)
        CHECK(heap[64 + i] == key, "turn %d: %s of %zu bytes: byte %zu", turn,
              what, n, i);
    for (size_t i = 0; i <= (63 + n) / PAGE; i++)
        CHECK(dirty[i],
              "turn %d: %s of %zu bytes: page %zu was written to "
              "behind the collector's back",
              turn, what, n, i);
}

static void exchange(int turn, size_t n)
{
    char key = (char)(turn * 5 + 3), *out = malloc(n), *buffer = heap + 64;
    int peer = world_rank ^ 1;
    MPI_Request request;
    memset(out, key, n);
    protect();
    if (world_rank == 0) {
        MPI_Send(out, (int)n, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, (int)n, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, (int)n, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Send(out, (int)n, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    filled(turn, "a message", n, key);
    protect();
    MPI_Irecv(buffer, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    filled(turn, "a posted message", n, key);
    /* From protected pages. */
    protect();
    MPI_Sendrecv(buffer, (int)n, MPI_BYTE, peer, 2, out, (int)n, MPI_BYTE, peer,
                 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < n; i++)
        CHECK(out[i] == key, "turn %d: what was sent of %zu bytes", turn, n);
    if (world_rank == 0)
        memset(buffer, key + 1, n);
    else
        protect();
    MPI_Bcast(buffer, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (world_rank)
        filled(turn, "a broadcast", n, (char)(key + 1));
    free(out);
}

/* Before the collector begins its work, peers may have come to see the heap. */
static void warm_up(int times)
{
    for (int i = 0; i < times; i++)
        MPI_Sendrecv_replace(heap, PAGES / 2 * PAGE, MPI_BYTE, world_rank ^ 1,
                             0, world_rank ^ 1, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    for (int i = 0; i < times; i++)
        MPI_Bcast(heap, PAGES / 2 * PAGE, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1000, 20000, 100000, 600000, 2000000};
    struct sigaction action = {.sa_sigaction = opens, .sa_flags = SA_SIGINFO};
    test_start(&argc, &argv);
    int turns = argc > 1 ? atoi(argv[1]) : 20;
    heap = aligned_alloc(PAGE, PAGES * (size_t)PAGE);
    memset(heap, 0, PAGES * (size_t)PAGE);
    sigaction(SIGSEGV, &action, NULL);
    if (argc > 2) {
        if (geteuid() == 0)
            CHECK(!setuid(65534), "no other user");
        prctl(PR_SET_DUMPABLE, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    warm_up(80);
    for (int turn = 0; turn < turns; turn++)
        for (size_t i = 0; i < LENGTH(sizes); i++)
            exchange(turn, sizes[i]);
    mprotect(heap, PAGES * (size_t)PAGE, PROT_READ | PROT_WRITE);
    free(heap);
    MPI_Finalize();
    if (world_rank == 0)
        puts("all is well");
    return 0;
}
