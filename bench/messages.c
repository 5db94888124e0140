/*
 * messages.c - places for messages, and patterns that show a byte out of
 * place: see messages.h.
 */
#include "messages.h"

#include <stdint.h>
#include <string.h>

enum { PAGE = 4096, GUARD_BYTE = 0xa5 };

static size_t stride_of(size_t size)
{
    return (size + 63) / 64 * 64 + 2 * SW_GUARD;
}

static size_t places_of(size_t size, size_t under_way, size_t cold)
{
    size_t places = (cold + stride_of(size) - 1) / stride_of(size);
    return places > under_way ? places : under_way;
}

size_t sw_area_bytes(size_t size, size_t under_way, size_t cold)
{
    /* A page to align, one for the offset, one for the first guard. */
    return 3 * PAGE + places_of(size, under_way, cold) * stride_of(size);
}

void sw_area_lay(sw_area_t *area, size_t size, size_t under_way, size_t cold,
                 size_t offset)
{
    uintptr_t page = ((uintptr_t)area->memory + SW_GUARD + PAGE - 1) / PAGE *
                     PAGE;
    size_t walked = area->next * area->stride;
    area->first = area->memory + (page - (uintptr_t)area->memory) + offset;
    area->stride = stride_of(size);
    area->places = places_of(size, under_way, cold);
    area->next = (walked + area->stride - 1) / area->stride % area->places;
}

/* No short period, so that a block of a message in another's place shows. */
static inline unsigned char value(size_t i, unsigned seed)
{
    unsigned step = (seed >> 7 & 0xfe) + 1;
    return (unsigned char)((unsigned)i * step + (unsigned)(i >> 8) * 167 +
                           (unsigned)(i >> 16) * 59 + seed);
}

void sw_message_fill(unsigned char *message, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        message[i] = value(i, seed);
}

void sw_message_spoil(unsigned char *message, size_t size, unsigned seed)
{
    memset(message - SW_GUARD, GUARD_BYTE, SW_GUARD);
    for (size_t i = 0; i < size; i++)
        message[i] = (unsigned char)~value(i, seed);
    memset(message + size, GUARD_BYTE, SW_GUARD);
}

sw_wrong_t sw_message_check(const unsigned char *message, size_t size,
                            unsigned seed)
{
    long long end = (long long)size + SW_GUARD;
    for (long long i = -SW_GUARD; i < end; i++) {
        bool inside = i >= 0 && i < (long long)size;
        unsigned char want = inside ? value((size_t)i, seed) : GUARD_BYTE;
        if (message[i] != want)
            return (sw_wrong_t){true, i, message[i], want};
    }
    return (sw_wrong_t){.found = false};
}
