/*
 * rounds.h - how many rounds a random test has. A sanitizer takes so long for
 * each that a short run has half of them there; STRAIGHTWAY_DEEP=1 has twenty
 * times the usual number.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "sanitized.h"

#include <stdbool.h>
#include <stdlib.h>

/* A number that the compiler must know: half of it under a sanitizer, in a deep
 * run, too. */
#define FEWER(usual) (SANITIZED ? (usual) / 2 : (usual))

static inline bool is_deep(void)
{
    const char *deep = getenv("STRAIGHTWAY_DEEP");
    return deep && atoi(deep) > 0;
}

static inline bool is_halved(void)
{
    return SANITIZED && !is_deep();
}

static inline int rounds(int usual)
{
    return is_deep() ? usual * 20 : is_halved() ? (usual + 1) / 2 : usual;
}

#endif
