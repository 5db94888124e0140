/*
 * What a call site costs, printed: nanoseconds of one sw_site at some depths,
 * less those of the wrapper around it. Asserts nothing but that it works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/os/os.h"
#include "profile/stack/site.h"

#define ROUNDS 41
#define CALLS 20000

__attribute__((noinline)) static uint32_t with(void)
{
    sw_caller_t from = SW_CALLER();
    return sw_site(&from);
}

__attribute__((noinline)) static uint32_t without(void)
{
    sw_caller_t from = SW_CALLER();
    __asm__ volatile("" : : "r"(&from) : "memory");
    return (uint32_t)from.pc;
}

static double round_of(uint32_t (*call)(void))
{
    uint64_t start = sw_os_now();
    for (int i = 0; i < CALLS; i++)
        call();
    return (double)(sw_os_now() - start) / CALLS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(void)
{
    double ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        ns[r] = round_of(with) - round_of(without);
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    printf("%6.1f  (%.1f to %.1f)\n", ns[ROUNDS / 2], ns[ROUNDS / 10],
           ns[ROUNDS - 1 - ROUNDS / 10]);
}

__attribute__((noinline)) static void below(int levels)
{
    volatile char pad[64] __attribute__((unused));
    pad[0] = 1;
    if (levels)
        below(levels - 1);
    else
        measure();
    pad[1] = 1;
}

int main(void)
{
    static const int depths[] = {1, 2, 4, 8, 16};
    printf("ns of a call site: median (10th to 90th of 100)\n");
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (!sw_site_depth(depths[i]))
                return 1;
            printf("depth %2d ", depths[i]);
            below(20);
            return with() == 0;
        }
        int status;
        if (waitpid(child, &status, 0) != child || status)
            return 1;
    }
    return 0;
}
