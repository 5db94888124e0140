/*
 * median.h - the median of what a benchmark program has measured.
 */
#ifndef SW_BENCH_MEDIAN_H
#define SW_BENCH_MEDIAN_H

#include <stdlib.h>

static int sw_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double sw_median(double *of, int n)
{
    qsort(of, (size_t)n, sizeof *of, sw_ascending);
    return n % 2 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

#endif
