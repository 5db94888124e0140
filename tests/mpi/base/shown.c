/*
 * shown.c - how much of a program's memory becomes shared.
 *
 *   shown once N     N messages, each from a buffer of its own
 *   shown often N    N messages from one buffer, beside memory that is not
 *                    communicated
 *   shown anew N     N messages from and to buffers that are freed after
 *   shown locked 0   mlockall, before and after messages
 */
#include "mpi/test.h"

#include <sys/mman.h>

#define BYTES ((size_t)256 << 10)

static void send_over(char *out, char *in)
{
    int other = 1 - world_rank;
    fill_from(out, BYTES, (uint64_t)world_rank);
    MPI_Sendrecv(out, (int)BYTES, MPI_BYTE, other, 1, in, (int)BYTES, MPI_BYTE,
                 other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(wrong_from(in, BYTES, (uint64_t)other) == BYTES, "wrong data");
}

static size_t resident(void)
{
    unsigned long all, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &here) != 2)
        fail("no /proc/self/statm");
    fclose(file);
    return here * 4096;
}

static void once(int n)
{
    char *in = malloc(BYTES);
    for (int i = 0; i < n; i++)
        send_over(malloc(BYTES), in);
}

static void often(int n)
{
    char *out = malloc(BYTES), *in = malloc(BYTES), *idle = malloc(16 * BYTES);
    fill_from(idle, 16 * BYTES, 3);
    for (int i = 0; i < n; i++)
        send_over(out, in);
    CHECK(wrong_from(idle, 16 * BYTES, 3) == 16 * BYTES, "idle memory");
}

static void anew(int n)
{
    for (int i = 0; i < n; i++) { /* too large for a thread to keep */
        char *out = malloc(64 * BYTES), *in = malloc(64 * BYTES);
        send_over(out, in);
        free(out);
        free(in);
    }
}

static void locked(void)
{
    char *out = malloc(BYTES), *in = malloc(BYTES);
    send_over(out, in);
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        printf("mlockall is not allowed here\n");
        return;
    }
    size_t at_once = resident();
    send_over(out, in);
    char *more = malloc(8 * BYTES);
    for (int i = 0; i < 20; i++)
        send_over(more + i % 7 * 1000, in);
    if (world_rank == 0)
        printf("locked %zu KiB, then %zu KiB\n", at_once >> 10,
               resident() >> 10);
    CHECK(munlockall() == 0, "munlockall");
}

int main(int argc, char **argv)
{
    alarm(100);
    test_start(&argc, &argv);
    CHECK(argc == 3 && world_size == 2, "shown CASE N, of 2 ranks");
    if (!strcmp(argv[1], "once"))
        once(atoi(argv[2]));
    else if (!strcmp(argv[1], "anew"))
        anew(atoi(argv[2]));
    else if (!strcmp(argv[1], "often"))
        often(atoi(argv[2]));
    else
        locked();
    test_end();
    return 0;
}
