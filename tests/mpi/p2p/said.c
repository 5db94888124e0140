/*
 * said.c - what a program has said of a buffer's pages stays true while the
 * buffer is sent and received often. Of the next block nothing is said.
 *
 * Ranks 0 and 1 exchange a buffer until it would have been shown. Each kind is
 * said before the first message once, and once after the last.
 */
#include "mpi/test.h"
#include "smaps.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PAGE 4096u
#define PAGES 64
#define SIZE (PAGES * (size_t)PAGE)

typedef struct {
    const char *name, *flag;
    int advice; /* -1: mlock */
} kind_t;

static const kind_t kinds[] = {
    {"mlock", "lo", -1},
    {"MADV_DONTDUMP", "dd", MADV_DONTDUMP},
    {"MADV_DONTFORK", NULL, MADV_DONTFORK},
    {"MADV_WIPEONFORK", NULL, MADV_WIPEONFORK},
    {"MADV_HUGEPAGE", "hg", MADV_HUGEPAGE},
};

static void exchange(char *buffer, int turns)
{
    for (int i = 0; i < turns; i++) {
        char key = (char)(i * 7 + 1);
        if (world_rank == i % 2) {
            memset(buffer, key, SIZE);
            MPI_Send(buffer, SIZE, MPI_BYTE, 1 - world_rank, i, MPI_COMM_WORLD);
        } else {
            MPI_Recv(buffer, SIZE, MPI_BYTE, 1 - world_rank, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            for (size_t k = 0; k < SIZE; k++)
                CHECK(buffer[k] == key, "message %d: byte %zu", i, k);
        }
    }
}

static void say(const kind_t *k, char *buffer)
{
    int rc = k->advice < 0 ? mlock(buffer, SIZE)
                           : madvise(buffer, SIZE, k->advice);
    CHECK(!rc, "%s is refused", k->name);
}

/* 0: it sees what its parent has, 1: zeros, 2: nothing. */
static int child_sees(const char *buffer, char key)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0, "no child");
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        int seen = buffer[SIZE / 2] == key ? 0 : 1;
        for (size_t i = 0; i < SIZE; i++)
            if (buffer[i] != (seen ? 0 : key))
                _exit(9);
        _exit(seen);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 2 : WEXITSTATUS(status);
}

static void still_said(const kind_t *k, const char *buffer)
{
    int want = k->advice == MADV_WIPEONFORK ? 1
               : k->advice == MADV_DONTFORK ? 2
                                            : 0;
    if (k->flag)
        CHECK(flagged(buffer, SIZE, k->flag) == SIZE, "%s is lost", k->name);
    int sees = child_sees(buffer, buffer[0]);
    CHECK(sees == want, "%s: a child sees %d, not %d", k->name, sees, want);
}

static void test(const kind_t *k, bool first, int turns)
{
    char *buffer = aligned_alloc(PAGE, SIZE);
    memset(buffer, 1, SIZE);
    if (first)
        say(k, buffer);
    exchange(buffer, turns);
    if (!first)
        say(k, buffer);
    still_said(k, buffer);
    exchange(buffer, 4);
    still_said(k, buffer);
    free(buffer);
    for (int i = 0; i < 3; i++) {
        buffer = aligned_alloc(PAGE, SIZE);
        memset(buffer, 5, SIZE);
        CHECK(child_sees(buffer, 5) == 0, "after %s: the next block's child",
              k->name);
        if (k->flag && k->advice != MADV_HUGEPAGE)
            CHECK(!flagged(buffer, SIZE, k->flag), "after %s: still %s",
                  k->name, k->flag);
        exchange(buffer, 2);
        free(buffer);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int turns = argc > 1 ? atoi(argv[1]) : 80;
    for (size_t i = 0; i < LENGTH(kinds) && world_rank < 2; i++) {
        test(&kinds[i], true, turns);
        test(&kinds[i], false, turns);
    }
    MPI_Finalize();
    if (world_rank == 0)
        puts("all is well");
    return 0;
}
