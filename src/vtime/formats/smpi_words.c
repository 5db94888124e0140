/*
 * smpi_words.c - the words of a line, and what is wrong with them.
 */
#include "smpi_read.h"

#include "node/base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST (1u << 22) /* vectors have one for each rank */

/* Bytes of the datatypes that traces number. */
static const uint8_t type_sizes[] = {
    8, 4,  1, 2,  8,  4, 1,  8,  1, 1,  2,  4,  8,  8,  16, 4, 1,  1,  2, 4,
    8, 1,  2, 4,  8,  8, 16, 32, 8, 8,  8,  16, 16, 8,  8,  8, 16, 16, 4, 4,
    8, 16, 8, 16, 16, 4, 2,  4,  8, 16, 32, 1,  8,  16, 32, 1, 1,  1,  8, 8};

bool sw_smpi_fail(const sw_smpi_t *s, const char *form, const char *what)
{
    return sw_convert_fail_at(s->path, s->line, form, what);
}

bool sw_smpi_split(sw_smpi_t *s, char *text)
{
    s->words = 0;
    for (char *w = strtok(text, " \t\r\n"); w; w = strtok(NULL, " \t\r\n")) {
        if (s->words == WORDS_MOST ||
            !sw_grow(&s->word, s->words, &s->room, sizeof *s->word))
            return sw_smpi_fail(s, "%s", "this line has too many words");
        s->word[s->words++] = w;
    }
    return true;
}

bool sw_smpi_real(const sw_smpi_t *s, size_t i, double most, double *to)
{
    char *end;
    if (i >= s->words)
        return sw_smpi_fail(s, "%s: a number is missing behind it", s->word[1]);
    *to = strtod(s->word[i], &end);
    if (*end || end == s->word[i] || !(*to >= 0) || *to > most)
        return sw_smpi_fail(s, "%s is no number that can be here", s->word[i]);
    return true;
}

bool sw_smpi_whole(const sw_smpi_t *s, size_t i, uint64_t most, uint64_t *to)
{
    double n = 0;
    if (!sw_smpi_real(s, i, (double)most, &n))
        return false;
    if (n != floor(n))
        return sw_smpi_fail(s, "%s is no whole number", s->word[i]);
    *to = (uint64_t)n;
    return true;
}

bool sw_smpi_rank(const sw_smpi_t *s, size_t i, uint64_t *to)
{
    if (!sw_smpi_whole(s, i, UINT32_MAX, to))
        return false;
    return *to < s->ranks ||
           sw_smpi_fail(s,
                        "rank %s is not in this file: give the list of all "
                        "ranks' files",
                        s->word[i]);
}

bool sw_smpi_bytes(const sw_smpi_t *s, uint32_t rank, size_t i, size_t type,
                   uint64_t *to)
{
    uint64_t n = 0, which = 0, unit = s->unit[rank];
    if (!sw_smpi_whole(s, i, (uint64_t)1 << 43, &n))
        return false;
    if (type && type < s->words) {
        if (!sw_smpi_whole(s, type, sizeof type_sizes - 1, &which))
            return false;
        unit = type_sizes[which];
    }
    *to = n * unit;
    return true;
}
