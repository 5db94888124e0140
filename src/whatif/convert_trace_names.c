/*
 * convert_trace_names.c - what the numbers of a trace mean; see
 * convert_trace.h.
 *
 * NAMES is the text of src/trace/names.h, as straightway/operations.py writes
 * it, with meanings of its own:
 *
 *     string "context N RANGES"   the members of context N, as first-last,...
 *     rank's NAME                 ns that recording one call took
 *     communicator ID             the number of its context and 1, 0: unknown
 *     call's NAME                 what the call is: a name of op.h's
 *                                 collectives, or one of `kinds` below
 *     call's DETAIL               its root (-1: none), a space, and its
 *                                 communicator's number in the rank's list
 */
#include "convert_trace.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[SW_TRACED_COLLECTIVE] = {
    "compute", "message", "ssend", "bsend", "start", "poll", "some",
    "fence", "make", "one-sided", "unmodelled"};

static unsigned char kind_of(const char *name)
{
    for (unsigned i = 0; i < SW_TRACED_COLLECTIVE; i++)
        if (!strcmp(name, kinds[i]))
            return (unsigned char)i;
    for (unsigned i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (!strcmp(name, sw_collective_names[i]))
            return (unsigned char)(SW_TRACED_COLLECTIVE + i);
    return SW_TRACED_COMPUTE;
}

/* "context N 0-3,7-7": its members, which are to be freed. */
static uint32_t *members_of(const sw_traced_t *c, const char *text,
                            uint32_t *number, uint32_t *n)
{
    char *at;
    unsigned long which = strtoul(text, &at, 10);
    uint32_t *members = NULL, room = 0;
    *n = 0;
    *number = (uint32_t)which;
    while (*at == ' ' || *at == ',') {
        unsigned long first = strtoul(at + 1, &at, 10), last = first;
        if (*at == '-')
            last = strtoul(at + 1, &at, 10);
        if (first > last || last >= c->world ||
            *n + (last - first) >= c->world)
            break;
        if (*n + (last - first) + 1 > room) {
            room = sw_max(2 * room, *n + (last - first) + 1);
            uint32_t *to = realloc(members, room * sizeof *to);
            if (!to)
                break;
            members = to;
        }
        for (; first <= last; first++)
            members[(*n)++] = (uint32_t)first;
    }
    if (*at || !*n || which >= UINT32_MAX) {
        free(members);
        return NULL;
    }
    return members;
}

bool sw_traced_read_names(sw_traced_t *c)
{
    c->kinds = calloc((size_t)c->names->string_count + 1, 1);
    c->memory = c->kinds != NULL;
    for (uint32_t i = 1; c->memory && i < c->names->string_count; i++) {
        const char *text = c->names->strings[i];
        c->kinds[i] = kind_of(text);
        if (strncmp(text, "context ", 8))
            continue;
        uint32_t number, n, *members = members_of(c, text + 8, &number, &n);
        if (!members)
            return sw_convert_fail("the names: \"%s\" is no context", text);
        while (number >= c->context_room) {
            uint32_t room = c->context_room ? 2 * c->context_room : 64;
            uint32_t *to = realloc(c->contexts, room * sizeof *to);
            if (!to) {
                free(members);
                return c->memory = false;
            }
            memset(to + c->context_room, 0,
                   (room - c->context_room) * sizeof *to);
            c->contexts = to;
            c->context_room = room;
        }
        c->contexts[number] = n;
        if (number)
            c->memory = sw_op_write_context(c->writer, number, n, members);
        free(members);
    }
    return c->memory;
}

bool sw_traced_find_ranks(sw_traced_t *c)
{
    sw_names_t *names = c->names;
    c->ranks = calloc((size_t)names->rank_count + 1, sizeof *c->ranks);
    c->memory = c->ranks != NULL;
    for (uint32_t i = 0; c->memory && i < names->rank_count; i++) {
        sw_rank_name_t *r = &names->ranks[i];
        sw_traced_rank_t *rank = &c->ranks[i];
        uint64_t cost = strtoull(r->name, NULL, 10);
        *rank = (sw_traced_rank_t){.name = r};
        rank->cost = r->ns ? (uint64_t)((unsigned __int128)cost * r->ticks /
                                        r->ns) : cost;
        rank->threads = calloc((size_t)r->thread_count + 1,
                               sizeof *rank->threads);
        c->memory = rank->threads != NULL;
    }
    return c->memory;
}

bool sw_traced_context(const sw_traced_t *c, const sw_traced_rank_t *rank,
                       uint64_t communicator, uint32_t *context)
{
    uint64_t n = sw_names_communicator(rank->name, communicator);
    *context = (uint32_t)(n - 1);
    return n && n - 1 < c->context_room && c->contexts[n - 1];
}
