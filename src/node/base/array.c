/*
 * array.c - see array.h.
 */
#include "array.h"

#include "settings.h"

#include <stdlib.h>

static void *there(void *p, size_t n)
{
    if (!p) {
        sw_say("no memory for %zu bytes of a call's arguments", n);
        abort();
    }
    return p;
}

void *sw_array_memory(size_t n)
{
    return there(malloc(n), n);
}

void *sw_array_zeroed(size_t count, size_t size)
{
    return there(calloc(count ? count : 1, size ? size : 1), count * size);
}

void sw_array_end(void *array)
{
    free(*(void **)array);
}
