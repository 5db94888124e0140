/*
 * places.h - where in an array the words of a message lie, and what they
 * hold. Knows no MPI.
 *
 * Loops that pack tell their places: give them an array whose words (of four
 * bytes) hold their own numbers, and what comes out are the places, in the
 * message's order. Loops that unpack are given a numbered message, and the
 * array afterwards says where each word went.
 *
 * A message is filled and checked by these places. The order is that of the
 * loops; a datatype may send in another, as long as each word arrives where
 * the loops would put it. Around each run of words up to 32 bytes that are
 * not the message's are guarded: nobody may change them. So an array needs
 * SW_MARGIN bytes before it and behind it.
 */
#ifndef SW_BENCH_PLACES_H
#define SW_BENCH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SW_MARGIN 64

typedef struct {
    uint32_t at, words;             /* neighbours in array and message      */
} sw_stretch_t;

typedef struct {
    sw_stretch_t *stretches;
    size_t count;
    size_t words;                   /* of the message                       */
    size_t extent;                  /* words of the array                   */
    uint64_t *used;                 /* a bit for each of those              */
} sw_places_t;

/* Each word becomes its own number, from `first` on. */
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

/* The message's words, as they follow from its seed. */
void sw_places_fill(const sw_places_t *p, uint32_t *array,
                    uint32_t seed);

/* The contrary in every word, and the guards: what a receiver starts with. */
void sw_places_spoil(const sw_places_t *p, uint32_t *array,
                     uint32_t seed);

/* The first wrong word of a received message, by its byte in the array;
 * `gap`: it is not the message's, and has been changed. */
typedef struct {
    bool found, gap;
    long long at;
    uint32_t got, want;
} sw_misplaced_t;

sw_misplaced_t sw_places_check(const sw_places_t *p,
                               const uint32_t *array, uint32_t seed);

#endif
