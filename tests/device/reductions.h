/*
 * reductions.h - vectors at random for the kernels that reduce, and how their
 * results compare with those of the processor's own kernels.
 */
#ifndef REDUCTIONS_H
#define REDUCTIONS_H

#include <math.h>
#include <string.h>

#include "coll/reduce/kernel.h"
#include "device/reduce.h"
#include "must.h"

static uint64_t reduction_state = 4711;

static uint64_t reduction_below(uint64_t n)
{
    return random_from(&reduction_state) % n;
}

static const struct {
    int kernel;
    sw_op_t op;
    sw_type_t type;
} reductions[] = {
#define KIND(op, type) {SW_REDUCE_##op##_##type, SW_##op, SW_##type},
    SW_REDUCTIONS(KIND)};

/* Elements that may be zeros of both signs, infinite, tiny, no numbers. */
static void reduction_fill(char *at, sw_type_t type, size_t n)
{
    static const double some[] = {0.0,    -0.0,  INFINITY, -INFINITY, NAN, 1.0,
                                  5e-324, 1e-40, -1e-45,   1e30,      3.0};
    size_t bytes = sw_type_bytes(type);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = reduction_below(4) ? random_from(&reduction_state)
                                           : reduction_below(3);
        double d = reduction_below(5)
                       ? (double)(int64_t)word / 1e17
                       : some[reduction_below(sizeof some / sizeof *some)];
        float f = (float)d;
        memcpy(at + i * bytes,
               type == SW_DOUBLE  ? (void *)&d
               : type == SW_FLOAT ? (void *)&f
                                  : (void *)&word,
               bytes);
    }
}

/* A sum or a product may be another NaN. */
static bool reduction_equal(size_t k, const char *a, const char *b, size_t n)
{
    size_t bytes = sw_type_bytes(reductions[k].type);
    bool rounds = reductions[k].op == SW_SUM || reductions[k].op == SW_PROD;
    for (size_t i = 0; i < n; i++, a += bytes, b += bytes) {
        double x = 0, y = 0;
        float f, g;
        if (memcmp(a, b, bytes) == 0)
            continue;
        if (reductions[k].type == SW_DOUBLE) {
            memcpy(&x, a, sizeof x);
            memcpy(&y, b, sizeof y);
        } else if (reductions[k].type == SW_FLOAT) {
            memcpy(&f, a, sizeof f);
            memcpy(&g, b, sizeof g);
            x = f;
            y = g;
        }
        if (!rounds || x == x || y == y)
            return false;
    }
    return true;
}

#endif
