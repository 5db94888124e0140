/*
 * convert_trace_contexts.c - the communicators of a trace; see
 * convert_trace.h.
 *
 * One between groups is a context of both. A collective there that has a root
 * is one of the root and the group that is not its own: they get a context
 * when the first such collective is met. The others of the root's group have
 * no part in it.
 */
#include "convert_trace.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* 0-3,7-7, of ranks of the world, added to *members, of which are *n. */
static const char *ranges(const sw_convert_trace_t *c, const char *at,
                          uint32_t **members, uint32_t *n)
{
    char *end = (char *)(uintptr_t)at;
    do {
        at = end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at)
            return NULL;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (first > last || last >= c->world || *n + (last - first) >= c->world)
            return NULL;
        uint32_t *to = realloc(*members,
                               (*n + (last - first) + 1) * sizeof *to);
        if (!to)
            return NULL;
        for (*members = to; first <= last; first++)
            to[(*n)++] = (uint32_t)first;
    } while (*end == ',' && *++end);
    return end;
}

/* A context has so many members. */
static bool count(sw_convert_trace_t *c, uint32_t number, uint32_t n)
{
    while (number >= c->context_room) {
        uint32_t was = c->context_room;
        if (!sw_grow(&c->contexts, was, &c->context_room, sizeof *c->contexts))
            return c->memory = false;
        memset(c->contexts + was, 0,
               (c->context_room - was) * sizeof *c->contexts);
        uint32_t **members = realloc(c->members,
                                     c->context_room * sizeof *members);
        if (!members)
            return c->memory = false;
        memset(members + was, 0, (c->context_room - was) * sizeof *members);
        c->members = members;
    }
    c->contexts[number] = n;
    c->context_count = sw_max(c->context_count, number + 1);
    return true;
}

bool sw_traced_read_context(sw_convert_trace_t *c, const char *text)
{
    char *at;
    unsigned long number = strtoul(text, &at, 10);
    uint32_t *members = NULL, n = 0;
    const char *end = *at == ' ' && number < UINT32_MAX / 2
                          ? ranges(c, at + 1, &members, &n)
                          : NULL;
    bool good = end && !*end && count(c, (uint32_t)number, n);
    if (good && number)
        good = c->memory = sw_op_write_context(c->writer, (uint32_t)number, n,
                                               members);
    if (good && !c->members[number])
        c->members[number] = members;
    else
        free(members);
    return good;
}

bool sw_traced_read_groups(sw_convert_trace_t *c, const char *text)
{
    char *at;
    uint64_t number = strtoul(text, &at, 10), *place;
    sw_traced_groups_t groups = {.first = 0};
    uint32_t n = 0;
    const char *end = *at == ' ' ? ranges(c, at + 1, &groups.members, &n)
                                 : NULL;
    groups.first = n;
    end = end && *end == ' ' ? ranges(c, end + 1, &groups.members, &n) : NULL;
    groups.second = n - groups.first;
    if (!end || *end || number >= c->context_room || c->contexts[number] != n) {
        free(groups.members);
        return false;
    }
    if (!sw_grow(&c->groups, c->group_count, &c->group_room,
                 sizeof *c->groups) ||
        !(place = sw_lookup_put(&c->group_places, number))) {
        free(groups.members);
        return c->memory = false;
    }
    *place = c->group_count;
    c->groups[c->group_count++] = groups;
    return true;
}

/* 3,-1,7 added to *ranks; "-": none. */
static const char *list(const sw_convert_trace_t *c, const char *at,
                        int64_t **ranks, uint32_t before, uint32_t *n)
{
    char *end;
    if (at[0] == '-' && (at[1] == ' ' || !at[1]))
        return at + 1;
    for (;; at = end + 1) {
        long rank = strtol(at, &end, 10);
        int64_t *to = end != at && rank >= -1 && rank < (long)c->world
                          ? realloc(*ranks,
                                    (size_t)(before + *n + 1) * sizeof *to)
                          : NULL;
        if (!to)
            return NULL;
        *ranks = to;
        to[before + (*n)++] = rank;
        if (*end != ',')
            return end;
    }
}

bool sw_traced_read_near(sw_convert_trace_t *c, const char *text)
{
    char *at;
    unsigned long rank = strtoul(text, &at, 10);
    unsigned long communicator = strtoul(at, &at, 10);
    unsigned long context = strtoul(at, &at, 10);
    sw_traced_near_t near = {.context = (uint32_t)context};
    const char *end = *at == ' ' ? list(c, at + 1, &near.rank, 0, &near.ins)
                                 : NULL;
    end = end && *end == ' '
              ? list(c, end + 1, &near.rank, near.ins, &near.outs)
              : NULL;
    if (!end || *end || rank >= c->world || context >= c->context_room ||
        !c->contexts[context]) {
        free(near.rank);
        return false;
    }
    uint64_t *place = NULL;
    if (!sw_grow(&c->near, c->near_count, &c->near_room, sizeof *c->near) ||
        !(place = sw_lookup_put(&c->near_places,
                                sw_traced_key((uint32_t)rank, communicator)))) {
        free(near.rank);
        return c->memory = false;
    }
    *place = c->near_count;
    c->near[c->near_count++] = near;
    return true;
}

bool sw_traced_context(const sw_convert_trace_t *c,
                       const sw_traced_rank_t *rank, uint64_t communicator,
                       uint32_t *context)
{
    uint64_t n = sw_names_communicator(rank->name, communicator);
    *context = (uint32_t)(n - 1);
    return n && n - 1 < c->context_room && c->contexts[n - 1];
}

const sw_traced_near_t *sw_traced_near(const sw_convert_trace_t *c,
                                       const sw_traced_rank_t *rank,
                                       uint64_t communicator)
{
    uint64_t *place = sw_lookup_get(
        &c->near_places, sw_traced_key(rank->name->number, communicator));
    return place ? &c->near[*place] : NULL;
}

const sw_traced_groups_t *sw_traced_groups(const sw_convert_trace_t *c,
                                           uint32_t context)
{
    uint64_t *place = sw_lookup_get(&c->group_places, context);
    return place ? &c->groups[*place] : NULL;
}

bool sw_traced_rooted(sw_convert_trace_t *c, uint32_t context, int64_t root,
                      uint32_t *rooted)
{
    const sw_traced_groups_t *groups = sw_traced_groups(c, context);
    if (root > UINT32_MAX)
        return false;
    uint64_t *known = sw_lookup_put(&c->rooted,
                                    (uint64_t)context << 32 | (uint32_t)root);
    if (!known)
        return c->memory = false;
    *rooted = (uint32_t)(*known - 1);
    if (*known)
        return true;
    uint32_t n = groups->first + groups->second, place = 0;
    while (place < n && groups->members[place] != root)
        place++;
    if (place == n)
        return false;
    bool first = place < groups->first;
    uint32_t others = first ? groups->second : groups->first;
    uint32_t *members = malloc((others + 1) * sizeof *members);
    if (!members)
        return c->memory = false;
    members[0] = (uint32_t)root;
    memcpy(members + 1, groups->members + (first ? groups->first : 0),
           others * sizeof *members);
    *rooted = sw_max(c->context_count, 1u);
    c->memory = count(c, *rooted, others + 1) &&
                sw_op_write_context(c->writer, *rooted, others + 1, members);
    free(members);
    *known = (uint64_t)*rooted + 1;
    return c->memory;
}

bool sw_traced_window_context(sw_convert_trace_t *c,
                              const sw_traced_rank_t *rank,
                              uint64_t communicator, uint64_t window,
                              uint32_t *context)
{
    uint32_t of;
    if (!sw_traced_context(c, rank, communicator, &of) || !c->members[of] ||
        sw_traced_groups(c, of) || window > UINT32_MAX)
        return false;
    uint64_t *known = sw_lookup_put(&c->windows, (uint64_t)of << 32 | window);
    if (!known)
        return c->memory = false;
    if (!*known) {
        uint32_t fresh = sw_max(c->context_count, 1u);
        c->memory = count(c, fresh, c->contexts[of]) &&
                    sw_op_write_context(c->writer, fresh, c->contexts[of],
                                        c->members[of]);
        *known = (uint64_t)fresh + 1;
    }
    *context = (uint32_t)(*known - 1);
    return c->memory;
}

void sw_traced_contexts_free(sw_convert_trace_t *c)
{
    for (uint32_t i = 0; i < c->context_count; i++)
        free(c->members[i]);
    free(c->members);
    sw_lookup_free(&c->windows);
    sw_lookup_free(&c->made);
    sw_lookup_free(&c->locks);
    for (uint32_t i = 0; i < c->near_count; i++)
        free(c->near[i].rank);
    for (uint32_t i = 0; i < c->group_count; i++)
        free(c->groups[i].members);
    free(c->near);
    free(c->groups);
    free(c->contexts);
    sw_lookup_free(&c->near_places);
    sw_lookup_free(&c->group_places);
    sw_lookup_free(&c->rooted);
}
