/*
 * live_context.c - see live_context.h.
 *
 * The ranks may use an id again when its communicator is gone, for other
 * members. Those that were members before have defined the former communicator
 * (they would have used it). So a rank contradicts another if it defines an id
 * for the first time, and the former definition names it too.
 */
#include "live_context.h"

#include "vtime/base/lookup.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
    struct known *next; /* of the same key; newer before older */
    uint64_t id;
    uint32_t number, n;
    uint32_t *members;
    uint64_t *defined; /* a bit for each rank that has defined it */
} known_t;

struct sw_defined {
    uint32_t ranks, count;
    sw_lookup_t newest; /* key_of(id) -> known_t, a chain */
    struct {
        uint32_t *numbers; /* the engine's, by the rank's */
        uint32_t count;
    } *of;
    uint64_t *seen; /* a bit for each rank: scratch */
};

sw_defined_t *sw_defined_new(uint32_t ranks)
{
    sw_defined_t *contexts = calloc(1, sizeof *contexts);
    if (!contexts)
        return NULL;
    contexts->ranks = ranks;
    contexts->of = calloc(ranks, sizeof *contexts->of);
    contexts->seen = calloc((ranks + 63) / 64, 8);
    if (!contexts->of || !contexts->seen) {
        sw_defined_free(contexts);
        return NULL;
    }
    return contexts;
}

void sw_defined_free(sw_defined_t *contexts)
{
    if (!contexts)
        return;
    for (size_t i = 0; i < contexts->newest.room; i++)
        for (known_t *
                 k = (known_t *)(uintptr_t)contexts->newest.entries[i].value,
                *next;
             k; k = next) {
            next = k->next;
            free(k->members);
            free(k->defined);
            free(k);
        }
    for (uint32_t r = 0; contexts->of && r < contexts->ranks; r++)
        free(contexts->of[r].numbers);
    sw_lookup_free(&contexts->newest);
    free(contexts->of);
    free(contexts->seen);
    free(contexts);
}

/* A lookup takes any key but one. */
static uint64_t key_of(uint64_t id)
{
    return id >> 1;
}

static bool bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* Each a rank, none twice, the one that says so among them. */
static bool possible(sw_defined_t *contexts, uint32_t rank, uint32_t n,
                     const uint32_t *members)
{
    bool good = n > 0 && n <= contexts->ranks, named = false;
    for (uint32_t i = 0; good && i < n; i++) {
        good = members[i] < contexts->ranks && !bit(contexts->seen, members[i]);
        if (good)
            set_bit(contexts->seen, members[i]);
        named |= members[i] == rank;
    }
    memset(contexts->seen, 0, (contexts->ranks + 63) / 64 * 8);
    return good && named;
}

static bool is_member(const known_t *k, uint32_t rank)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (k->members[i] == rank)
            return true;
    return false;
}

static known_t *add(sw_defined_t *contexts, uint64_t id, uint32_t n,
                    const uint32_t *members)
{
    known_t *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    uint64_t *newest = sw_lookup_put(&contexts->newest, key_of(id));
    k->members = malloc(n * sizeof *members);
    k->defined = calloc((contexts->ranks + 63) / 64, 8);
    if (!newest || !k->members || !k->defined) {
        free(k->members);
        free(k->defined);
        free(k);
        return NULL;
    }
    memcpy(k->members, members, n * sizeof *members);
    k->id = id;
    k->n = n;
    k->number = ++contexts->count; /* 0 is the world */
    k->next = (known_t *)(uintptr_t)*newest;
    *newest = (uintptr_t)k;
    return k;
}

static bool remember(sw_defined_t *contexts, uint32_t rank, uint32_t number,
                     uint32_t engine_number)
{
    uint32_t count = contexts->of[rank].count;
    if (number >= count) {
        uint32_t room = count ? count : 16;
        while (room <= number)
            room *= 2;
        uint32_t *moved = realloc(contexts->of[rank].numbers,
                                  room * sizeof *moved);
        if (!moved)
            return false;
        memset(moved + count, 0xff, (room - count) * sizeof *moved);
        contexts->of[rank].numbers = moved;
        contexts->of[rank].count = room;
    }
    contexts->of[rank].numbers[number] = engine_number;
    return true;
}

sw_defined_state_t sw_defined_define(sw_defined_t *contexts, uint32_t rank,
                                     uint32_t number, uint64_t id, uint32_t n,
                                     const uint32_t *members,
                                     uint32_t *engine_number)
{
    if (number >= SW_DEFINED_MOST || !possible(contexts, rank, n, members))
        return SW_DEFINED_WRONG;
    known_t *same = NULL;
    bool contradicts = false;
    for (known_t *k = sw_lookup_find(&contexts->newest, key_of(id)); k;
         k = k->next) {
        if (k->id != id)
            continue;
        if (k->n == n && !memcmp(k->members, members, n * sizeof *members)) {
            same = k;
            break;
        }
        contradicts |= is_member(k, rank) && !bit(k->defined, rank);
    }
    if (!same && contradicts)
        return SW_DEFINED_DISAGREE;
    sw_defined_state_t state = same ? SW_DEFINED_KNOWN : SW_DEFINED_NEW;
    if (!same)
        same = add(contexts, id, n, members);
    if (!same || !remember(contexts, rank, number, same->number))
        return SW_DEFINED_MEMORY;
    set_bit(same->defined, rank);
    *engine_number = same->number;
    return state;
}

uint32_t sw_defined_number(const sw_defined_t *contexts, uint32_t rank,
                           uint32_t number)
{
    if (number < contexts->of[rank].count &&
        contexts->of[rank].numbers[number] != SW_DEFINED_NONE)
        return contexts->of[rank].numbers[number];
    return number == 0 ? 0 : SW_DEFINED_NONE;
}
