/*
 * say.h - lines of a model file, from words in one text.
 */
#ifndef SAY_H
#define SAY_H

#include "must.h"
#include "vtime/model/model_file.h"

#include <string.h>

static char why[1024];

/* The words of a text, of which `copy` has room for the letters. */
static inline int split(const char *text, char *copy, size_t room, char **word)
{
    int words = 0;
    MUST(strlen(text) < room);
    strcpy(copy, text);
    for (char *at, *rest = copy; (at = strtok_r(rest, " ", &rest));)
        word[words++] = at;
    return words;
}

/* What is wrong with a line about collectives, or NULL. */
static inline const char *line(sw_model_t *model, const char *text)
{
    static char copy[1024];
    char *word[64];
    int words = split(text, copy, sizeof copy, word);
    return sw_rules_line(model, words, word, why, sizeof why);
}

static inline void say(sw_model_t *model, const char *text)
{
    const char *wrong = line(model, text);
    if (wrong)
        fprintf(stderr, "%s: %s\n", text, wrong);
    MUST(!wrong);
}

#endif
