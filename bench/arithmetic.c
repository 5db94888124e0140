/*
 * arithmetic.c - see arithmetic.h. The least of many measurements counts: with
 * more ranks than cores, the others include waiting for a core.
 */
#include "arithmetic.h"
#include "sampling.h"

#include <stdint.h>

#define LONG_ENOUGH 200e-6 /* seconds */
enum { MEASUREMENTS = 20 };

static double turn_seconds;

void sw_arithmetic_do(size_t turns)
{
    static uint64_t state = 1;
    uint64_t x = state;
    for (size_t i = 0; i < turns; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    state = x;
}

static double time_of(size_t turns)
{
    double begin = sw_now();
    sw_arithmetic_do(turns);
    return sw_now() - begin;
}

void sw_arithmetic_prepare(void)
{
    size_t turns = 1024;
    MPI_Barrier(sw_run.comm);
    while (time_of(turns) < LONG_ENOUGH)
        turns *= 2;
    for (int i = 0; i < MEASUREMENTS; i++) {
        double seconds = time_of(turns) / (double)turns;
        if (i == 0 || seconds < turn_seconds)
            turn_seconds = seconds;
    }
}

size_t sw_arithmetic_turns(double seconds)
{
    return (size_t)(seconds / turn_seconds);
}
