/*
 * section.c - see section.h.
 */
#include "section.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *name, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * 1099511628211u;
    return h >> 1; /* no key is UINT64_MAX */
}

static bool is(const sw_sections_t *s, uint64_t number, const char *name,
               size_t n)
{
    const char *known = s->names[number];
    return !strncmp(known, name, n) && !known[n];
}

uint32_t sw_sections_find(const sw_sections_t *s, const char *name, size_t n)
{
    const uint64_t *at;
    for (uint64_t key = hash(name, n); (at = sw_lookup_get(&s->numbers, key));
         key++)
        if (is(s, *at, name, n))
            return (uint32_t)*at;
    return 0;
}

bool sw_sections_set(sw_sections_t *s, uint32_t number, const char *name)
{
    size_t n = strlen(name);
    if (!number || number > SW_SECTION_MOST || !n || n >= SW_SECTION_NAME ||
        sw_sections_find(s, name, n) ||
        (number <= s->count && s->names[number]))
        return false;
    while (s->count < number || !s->names) {
        if (!sw_grow(&s->names, s->count + 1, &s->room, sizeof *s->names))
            return false;
        if (s->count == 0)
            s->names[0] = NULL;
        if (s->count < number)
            s->names[++s->count] = NULL;
    }
    uint64_t key = hash(name, n), *at;
    while (sw_lookup_get(&s->numbers, key))
        key++;
    char *copy = strdup(name);
    at = copy ? sw_lookup_put(&s->numbers, key) : NULL;
    if (!at) {
        free(copy);
        return false;
    }
    *at = number;
    s->names[number] = copy;
    return true;
}

uint32_t sw_sections_add(sw_sections_t *s, const char *name)
{
    uint32_t known = sw_sections_find(s, name, strlen(name));
    if (known)
        return known;
    return sw_sections_set(s, s->count + 1, name) ? s->count : 0;
}

const char *sw_sections_name(const sw_sections_t *s, uint64_t number)
{
    return number && number <= s->count && s->names[number] ? s->names[number]
                                                            : "";
}

void sw_sections_free(sw_sections_t *s)
{
    for (uint32_t i = 1; i <= s->count; i++)
        free(s->names[i]);
    free(s->names);
    sw_lookup_free(&s->numbers);
    *s = (sw_sections_t){0};
}

uint32_t sw_sections_around(const sw_sections_t *s, uint32_t number)
{
    const char *name = sw_sections_name(s, number);
    uint32_t outer = 0;
    for (size_t n = strlen(name); n > 0 && !outer; n--)
        if (name[n - 1] == '/')
            outer = sw_sections_find(s, name, n - 1);
    return outer;
}
