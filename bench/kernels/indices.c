/*
 * indices.c - lists of indices as in meshes and particles: random, but the same
 * in every run, so that runs compare.
 */
#include "kernels.h"

#include <stdint.h>
#include <stdlib.h>

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * below >> 32);
}

int *sw_indices(int n, int of, bool ascending)
{
    uint64_t state = 2012;
    int *list = malloc((size_t)n * sizeof *list), found = 0;
    if (!list)
        return NULL;
    /* Take each number with the probability: wanted / left. */
    for (int i = 0; found < n; i++)
        if ((int)draw(&state, (uint32_t)(of - i)) < n - found)
            list[found++] = i;
    for (int i = n - 1; i > 0 && !ascending; i--) {
        int j = (int)draw(&state, (uint32_t)i + 1), was = list[i];
        list[i] = list[j];
        list[j] = was;
    }
    return list;
}
