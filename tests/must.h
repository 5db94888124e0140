/*
 * must.h - a claim, and numbers at random, for the rooms' tests.
 */
#ifndef MUST_H
#define MUST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(x)                                                             \
    do {                                                                    \
        if (!(x)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

/* A step of xorshift64, from a state that is not 0. */
static inline uint64_t random_from(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
