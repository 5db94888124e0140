/*
 * places.h - the places of a message's words in an array, and their contents.
 * Knows no MPI.
 *
 * Pack loops show their places: from an array whose words (of four bytes) hold
 * their own numbers, they pack the places in the message's order. Unpack loops
 * get a numbered message; the array then shows the place of each word.
 *
 * The benchmark fills and checks a message by these places. The order is that
 * of the loops. A datatype may send in another order, if each word arrives
 * where the loops would put it. Up to 32 bytes on either side of each run are
 * guards: no message may change them. So an array needs SW_MARGIN bytes before
 * it and behind it.
 */
#ifndef SW_BENCH_PLACES_H
#define SW_BENCH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SW_MARGIN 64

typedef struct {
    uint32_t at, words; /* neighbours in array and message */
} sw_stretch_t;

typedef struct {
    sw_stretch_t *stretches;
    size_t count;
    size_t words;   /* of the message */
    size_t extent;  /* words of the array */
    uint64_t *used; /* a bit for each of those */
} sw_places_t;

/* Number the words, from `first` on. */
void sw_places_number(uint32_t *words, size_t n, uint32_t first);

/* From an array into which a message numbered from 1 was unpacked, and which
 * held zeros: each word of the message becomes its place. False: not every
 * word is there, once. */
bool sw_places_invert(const uint32_t *array, size_t extent, uint32_t *list,
                      size_t words);

/* From the places of a message's words in an array of `extent` words. False:
 * no memory, or a place lies outside, or is there twice. */
bool sw_places_make(sw_places_t *p, const uint32_t *list, size_t words,
                    size_t extent);

void sw_places_drop(sw_places_t *p);

/* Write the message's words, which follow from its seed. */
void sw_places_fill(const sw_places_t *p, uint32_t *array, uint32_t seed);

/* Write the complement of every word, and the guards, before a receive. */
void sw_places_spoil(const sw_places_t *p, uint32_t *array, uint32_t seed);

/* The first wrong word of a received message, by its byte in the array;
 * `gap`: a changed word of a guard. */
typedef struct {
    bool found, gap;
    long long at;
    uint32_t got, want;
} sw_misplaced_t;

sw_misplaced_t sw_places_check(const sw_places_t *p, const uint32_t *array,
                               uint32_t seed);

#endif
