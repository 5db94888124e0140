/*
 * copy.c - see copy.h.
 */
#include "copy.h"

#if defined(__x86_64__)

#include <emmintrin.h>

void sw_copy_past(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    size_t head = (16 - ((uintptr_t)t & 15)) & 15;
    if (n < 256) {
        sw_copy(to, from, n);
        return;
    }
    memcpy(t, f, 16);
    t += head;
    f += head;
    n -= head;
    for (; n >= 64; n -= 64, t += 64, f += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)f);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(f + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(f + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(f + 48));
        _mm_stream_si128((__m128i *)(void *)t, a);
        _mm_stream_si128((__m128i *)(void *)(t + 16), b);
        _mm_stream_si128((__m128i *)(void *)(t + 32), c);
        _mm_stream_si128((__m128i *)(void *)(t + 48), d);
    }
    /* Streamed stores are ordered with nothing else. */
    _mm_sfence();
    sw_copy(t, f, n);
}

#else

void sw_copy_past(void *to, const void *from, size_t n)
{
    sw_copy(to, from, n);
}

#endif
