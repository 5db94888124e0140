/*
 * fork.c - after a fork, parent and child each see their own memory, although
 * the heap is shared with other ranks; and the parent's collectives go on.
 *
 *   fork [ROUNDS]
 */
#include "mpi/test.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
enum { BLOCKS = 20, WORDS = 100000 };

static long globals[50000];
static long *block[BLOCKS];

static void write_all(long v)
{
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < WORDS; i += 64)
            block[b][i] = v + b;
    for (int i = 0; i < 50000; i += 64)
        globals[i] = v;
}

static int see(long v)
{
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < WORDS; i += 64)
            if (block[b][i] != v + b)
                return 1;
    for (int i = 0; i < 50000; i += 64)
        if (globals[i] != v)
            return 2;
    return 0;
}

static void collect(void)
{
    MPI_Allreduce(block[0], block[1], WORDS, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    CHECK(block[1][0] == block[0][0], "Allreduce around a fork");
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int rounds = (int)argument(argc, argv, 1, 5), status;
    for (int b = 0; b < BLOCKS; b++)
        block[b] = calloc(WORDS, sizeof(long));
    for (int k = 1; k <= rounds; k++) {
        long v = k * 1000;
        int down[2], up[2];
        char byte = 0;
        write_all(v);
        collect();
        write_all(v);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(pipe(down) == 0 && pipe(up) == 0, "no pipe");
        pid_t child = fork();
        CHECK(child >= 0, "no fork");
        if (child == 0) {
            /* Unchanged after the parent wrote; then its own. */
            if (read(down[0], &byte, 1) != 1)
                _exit(9);
            int wrong = see(v);
            write_all(v + 7);
            void *more = malloc(1 << 20);
            memset(more, 1, 1 << 20);
            free(more);
            free(block[3]);
            if (write(up[1], &byte, 1) != 1)
                _exit(9);
            if (read(down[0], &byte, 1) != 1)
                _exit(9);
            _exit(wrong);
        }
        write_all(v + 3);
        collect();
        write_all(v + 3);
        CHECK(write(down[1], &byte, 1) == 1, "pipe");
        CHECK(read(up[0], &byte, 1) == 1, "the child died early");
        CHECK(see(v + 3) == 0, "the parent sees what the child wrote");
        collect();
        CHECK(write(down[1], &byte, 1) == 1, "pipe");
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                  WEXITSTATUS(status) == 0,
              "the child saw other memory than its own (status %d)", status);
        for (int i = 0; i < 2; i++) {
            close(down[i]);
            close(up[i]);
        }
        /* Children that exec. */
        CHECK(system("exit 3") >> 8 == 3, "system");
        FILE *f = popen("echo seven", "r");
        char text[16] = "";
        CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, "seven\n"),
              "popen");
        pclose(f);
        char *command[] = {"sh", "-c", "exit 4", NULL};
        CHECK(
            posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ) == 0 &&
                waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4,
            "posix_spawn");
        collect();
    }
    test_end();
}
