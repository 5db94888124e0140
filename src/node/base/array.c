/*
 * array.c - see array.h.
 */
#include "array.h"

#include "settings.h"

#include <stdlib.h>

void *sw_array_memory(size_t n)
{
    void *p = malloc(n);
    if (!p) {
        sw_say("no memory for %zu bytes of a call's arguments", n);
        abort();
    }
    return p;
}

void sw_array_end(void *array)
{
    free(*(void **)array);
}
