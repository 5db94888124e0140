/*
 * places.c - see places.h.
 */
#include "places.h"

#include <stdlib.h>

enum { WORD = 4, GUARDED = 8 }; /* words on either side */
#define GUARD 0xa5a5a5a5u

void sw_places_number(uint32_t *words, size_t n, uint32_t first)
{
    for (size_t i = 0; i < n; i++)
        words[i] = first + (uint32_t)i;
}

bool sw_places_invert(const uint32_t *array, size_t extent, uint32_t *list,
                      size_t words)
{
    size_t found = 0;
    for (size_t i = 0; i < words; i++)
        list[i] = UINT32_MAX;
    for (size_t i = 0; i < extent; i++) {
        size_t word = array[i];
        if (!word)
            continue;
        if (word > words || list[word - 1] != UINT32_MAX)
            return false;
        list[word - 1] = (uint32_t)i;
        found++;
    }
    return found == words;
}

static bool is_used(const sw_places_t *p, long long word)
{
    return word >= 0 && word < (long long)p->extent &&
           p->used[word / 64] >> (word % 64) & 1;
}

static size_t count_stretches(const uint32_t *list, size_t words)
{
    size_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += i == 0 || list[i] != list[i - 1] + 1;
    return count;
}

bool sw_places_make(sw_places_t *p, const uint32_t *list, size_t words,
                    size_t extent)
{
    size_t count = count_stretches(list, words);
    *p = (sw_places_t){.stretches = malloc(count * sizeof *p->stretches),
                       .words = words,
                       .extent = extent,
                       .used = calloc(extent / 64 + 1, sizeof *p->used)};
    if (!p->stretches || !p->used)
        return false;
    for (size_t i = 0; i < words; i++) {
        size_t at = list[i];
        if (at >= extent || is_used(p, (long long)at))
            return false;
        p->used[at / 64] |= (uint64_t)1 << at % 64;
        if (i == 0 || at != (size_t)list[i - 1] + 1)
            p->stretches[p->count++].at = (uint32_t)at;
        sw_stretch_t *last = &p->stretches[p->count - 1];
        last->words = (uint32_t)at - last->at + 1;
    }
    return true;
}

void sw_places_drop(sw_places_t *p)
{
    free(p->stretches);
    free(p->used);
    *p = (sw_places_t){.count = 0};
}

/* All words of a message differ, and so does a word in two messages with
 * different seeds. */
static inline uint32_t value(uint32_t i, uint32_t seed)
{
    return i * 0x9e3779b1u + seed * 0x85ebca6bu;
}

void sw_places_fill(const sw_places_t *p, uint32_t *array, uint32_t seed)
{
    uint32_t next = 0;
    for (size_t s = 0; s < p->count; s++) {
        sw_stretch_t one = p->stretches[s];
        for (uint32_t i = 0; i < one.words; i++)
            array[one.at + i] = value(next + i, seed);
        next += one.words;
    }
}

/* The k-th guarded word of a stretch: before it for k < GUARDED. */
static long long guard(sw_stretch_t one, int k)
{
    return k < GUARDED ? (long long)one.at - 1 - k
                       : (long long)one.at + one.words + k - GUARDED;
}

void sw_places_spoil(const sw_places_t *p, uint32_t *array, uint32_t seed)
{
    uint32_t next = 0;
    for (size_t s = 0; s < p->count; s++) {
        sw_stretch_t one = p->stretches[s];
        for (int k = 0; k < 2 * GUARDED; k++)
            if (!is_used(p, guard(one, k)))
                array[guard(one, k)] = GUARD;
        for (uint32_t i = 0; i < one.words; i++)
            array[one.at + i] = ~value(next + i, seed);
        next += one.words;
    }
}

static sw_misplaced_t misplaced(long long word, bool gap, uint32_t got,
                                uint32_t want)
{
    return (sw_misplaced_t){true, gap, word * WORD, got, want};
}

sw_misplaced_t sw_places_check(const sw_places_t *p, const uint32_t *array,
                               uint32_t seed)
{
    uint32_t next = 0;
    for (size_t s = 0; s < p->count; s++) {
        sw_stretch_t one = p->stretches[s];
        for (uint32_t i = 0; i < one.words; i++) {
            uint32_t got = array[one.at + i], want = value(next + i, seed);
            if (got != want)
                return misplaced((long long)one.at + i, false, got, want);
        }
        for (int k = 0; k < 2 * GUARDED; k++) {
            long long at = guard(one, k);
            if (!is_used(p, at) && array[at] != GUARD)
                return misplaced(at, true, array[at], GUARD);
        }
        next += one.words;
    }
    return (sw_misplaced_t){.found = false};
}
