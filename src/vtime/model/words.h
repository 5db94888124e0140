/*
 * words.h - numbers in the text of a model file, and chance.
 *
 * Numbers are plain decimal ones: no signs, no hexadecimal, no infinities,
 * and none that is too large for what it stands for.
 */
#ifndef SW_VTIME_MODEL_WORDS_H
#define SW_VTIME_MODEL_WORDS_H

#include "vtime/ops/op.h"

/* The longest time and the slowest byte that a model may have: 1000 s, and one
 * second a byte. What the model makes of them fits into sw_ps_t. */
#define SW_WORDS_NS 1e12
#define SW_WORDS_NS_A_BYTE 1e9
#define SW_PS_MOST ((sw_ps_t)1 << 60)

bool sw_words_integer(const char *word, uint64_t *value);
bool sw_words_real(const char *word, double most, double *value);
bool sw_words_time(const char *word, sw_ps_t *ps); /* of ns */
bool sw_words_rate(const char *word, double *ps_a_byte);

/* To the ps; SW_PS_MOST where it were more. */
static inline sw_ps_t sw_ps_whole(double ps)
{
    return ps < (double)SW_PS_MOST ? (sw_ps_t)(ps + 0.5) : SW_PS_MOST;
}

/* What so many bytes take. */
static inline sw_ps_t sw_ps_of(double ps_a_byte, uint64_t bytes)
{
    return sw_ps_whole(ps_a_byte * (double)bytes);
}

static inline sw_ps_t sw_ps_scaled(sw_ps_t ps, double scale)
{
    return sw_ps_whole((double)ps * scale);
}

/* The step of splitmix64 (Steele, Lea, Flood 2014): from one number another
 * that looks unrelated to it. */
static inline uint64_t sw_words_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
