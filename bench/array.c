/*
 * array.c - see array.h.
 */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "places.h"

static char *start_of(uint32_t *at)
{
    return (char *)at - SW_MARGIN;
}

static size_t room_of(const sw_array_t *a)
{
    return a->bytes + 2 * SW_MARGIN;
}

static bool is_copied(const sw_array_t *a)
{
    return a->at != a->seen;
}

bool sw_array_make(sw_array_t *a, size_t bytes, bool in_gpu)
{
    *a = (sw_array_t){.bytes = bytes};
    char *memory = malloc(room_of(a));
    if (!memory)
        return false;
    memset(memory, 0, room_of(a));
    a->seen = a->at = (uint32_t *)(memory + SW_MARGIN);
    if (in_gpu) {
        a->at = (uint32_t *)((char *)sw_gpu_memory(room_of(a)) + SW_MARGIN);
        sw_array_push(a);
    }
    return true;
}

void sw_array_drop(sw_array_t *a)
{
    if (a->at && is_copied(a))
        sw_gpu_memory_free(start_of(a->at));
    if (a->seen)
        free(start_of(a->seen));
    *a = (sw_array_t){.bytes = 0};
}

void sw_array_push(const sw_array_t *a)
{
    if (is_copied(a))
        sw_gpu_write(start_of(a->at), start_of(a->seen), room_of(a));
}

void sw_array_pull(const sw_array_t *a)
{
    if (is_copied(a))
        sw_gpu_read(start_of(a->seen), start_of(a->at), room_of(a));
}
