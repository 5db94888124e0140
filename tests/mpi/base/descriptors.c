/*
 * descriptors.c - the program closes descriptors that it does not know, and
 * opens a file of its own at their numbers, before MPI_Init and after. Its
 * file stays as it is, and results are right.
 */
#include "mpi/test.h"
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { WORDS = 100000, TEXT = 4096 };

static FILE *own;
static char text[TEXT];

/* Our file in place of all descriptors of unnamed memory. */
static int take_over(const char *name)
{
    DIR *all = opendir("/proc/self/fd");
    struct dirent *entry;
    int taken = 0;
    while (all && (entry = readdir(all))) {
        char path[300], target[300] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 &&
            strstr(target, name))
            taken += dup2(fileno(own), atoi(entry->d_name)) >= 0;
    }
    if (all)
        closedir(all);
    return taken;
}

static void communicate(void)
{
    static long global[WORDS];
    long *a = malloc(WORDS * sizeof *a), *b = malloc(WORDS * sizeof *b);
    for (int n = 1; n <= WORDS; n *= 10)
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < n; k++)
                a[k] = global[k] = k + i + world_rank;
            MPI_Allreduce(i % 2 ? a : global, b, n, MPI_LONG, MPI_SUM,
                          MPI_COMM_WORLD);
            for (int k = 0; k < n; k++)
                CHECK(b[k] == 2L * (k + i) + 1, "allreduce, %d of %d", k, n);
            MPI_Sendrecv(i % 2 ? a : global, n, MPI_LONG, !world_rank, 1, b, n,
                         MPI_LONG, !world_rank, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            for (int k = 0; k < n; k++)
                CHECK(b[k] == k + i + !world_rank, "message, %d of %d", k, n);
        }
    pid_t pid = fork();
    if (pid == 0) {
        int same = a[WORDS - 1] == global[WORDS - 1];
        memset(a, 0, WORDS * sizeof *a);
        _exit(!same);
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "a forked child");
    CHECK(a[WORDS - 1] == global[WORDS - 1], "a child wrote to its parent");
    free(a);
    free(b);
}

static void check_file(void)
{
    char now[TEXT];
    struct stat file;
    CHECK(fstat(fileno(own), &file) == 0 && file.st_blocks <= TEXT / 512,
          "the program's file has grown");
    CHECK(pread(fileno(own), now, TEXT, 0) == TEXT && !memcmp(now, text, TEXT),
          "the program's file was written to");
}

int main(int argc, char **argv)
{
    own = tmpfile();
    memset(text, 'x', TEXT);
    if (!own || write(fileno(own), text, TEXT) != TEXT ||
        ftruncate(fileno(own), (off_t)1 << 40))
        return 1;
    int taken = take_over("memfd:straightway");
    test_start(&argc, &argv);
    CHECK(world_size == 2, "for two ranks");
    communicate();
    taken += take_over("memfd:straightway");
    communicate();
    MPI_Comm again;
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    for (int i = 0; i < 4; i++)
        MPI_Barrier(again);
    MPI_Comm_free(&again);
    check_file();
    if (world_rank == 0)
        printf("%d descriptors\n", taken);
    test_end();
}
