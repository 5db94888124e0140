/*
 * words.c - see words.h.
 */
#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sw_words_integer(const char *word, uint64_t *value)
{
    if (!*word || word[strspn(word, "0123456789")])
        return false;
    errno = 0;
    *value = strtoull(word, NULL, 10);
    return !errno;
}

bool sw_words_real(const char *word, double most, double *value)
{
    if (!isdigit((unsigned char)*word) || word[strspn(word, "0123456789.eE+-")])
        return false;
    char *end;
    *value = strtod(word, &end);
    return !*end && isfinite(*value) && *value >= 0 && *value <= most;
}

bool sw_words_time(const char *word, sw_ps_t *ps)
{
    double ns;
    if (!sw_words_real(word, SW_WORDS_NS, &ns))
        return false;
    *ps = (sw_ps_t)(ns * SW_PS_PER_NS + 0.5);
    return true;
}

bool sw_words_rate(const char *word, double *ps_a_byte)
{
    if (!sw_words_real(word, SW_WORDS_NS_A_BYTE, ps_a_byte))
        return false;
    *ps_a_byte *= SW_PS_PER_NS;
    return true;
}
