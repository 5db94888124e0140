/*
 * section_times.c - see section_times.h.
 */
#include "section_times.h"

#include "inside.h"
#include "node/base/grow.h"

#include <stdlib.h>

/* Times of a rank, as it goes --------------------------------------------- */

/* What the rank spent in this section without being in one within it; NULL: no
 * memory. Sorted by number. */
static sw_rank_time_t *spent_in(sw_rank_t *rank, uint32_t number)
{
    uint32_t low = 0, high = rank->section_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rank->sections[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == rank->section_count || rank->sections[low].number != number) {
        if (!sw_grow_at(&rank->sections, rank->section_count,
                        &rank->section_room, sizeof *rank->sections, low))
            return NULL;
        rank->section_count++;
        rank->sections[low] = (sw_rank_section_t){.number = number};
    }
    return &rank->sections[low].time;
}

void sw_rank_time_add(sw_rank_time_t *to, const sw_rank_time_t *more, int sign)
{
    to->end += sign * more->end;
    to->compute += sign * more->compute;
    to->noise += sign * more->noise;
    to->messages += sign * more->messages;
    to->collectives += sign * more->collectives;
    to->waiting += sign * more->waiting;
}

/* All its time so far. */
static sw_rank_time_t so_far(const sw_rank_t *rank)
{
    sw_rank_time_t time = rank->time;
    time.end = rank->main.clock;
    return time;
}

void sw_section_enter(sw_engine_t *engine, sw_rank_t *rank, uint32_t number)
{
    if (number == rank->section)
        return;
    sw_rank_time_t now = so_far(rank);
    sw_rank_time_t *spent = spent_in(rank, rank->section);
    if (!spent) {
        engine->memory = true;
        return;
    }
    sw_rank_time_add(spent, &now, 1);
    sw_rank_time_add(spent, &rank->since, -1);
    rank->since = now;
    rank->section = number;
}

/* Times of all ------------------------------------------------------------ */

typedef struct {
    uint32_t *outer;            /* by section */
    sw_rank_time_t *here;       /* of the rank at hand */
    uint32_t *seen;             /* the last rank that was there, and 1 */
    sw_section_time_t *times;
} sums_t;

/* The rank spent it in a section, and in all around it. */
static void count_in(sums_t *s, uint32_t rank, uint32_t section,
                     const sw_rank_time_t *time)
{
    for (;; section = s->outer[section]) {
        if (s->seen[section] != rank + 1)
            s->here[section] = (sw_rank_time_t){0};
        s->seen[section] = rank + 1;
        sw_rank_time_add(&s->here[section], time, 1);
        if (!section || !s->outer[section])
            break;
    }
}

static void count_rank(sums_t *s, const sw_engine_t *engine, uint32_t number,
                       uint32_t count)
{
    const sw_rank_t *rank = sw_rank_last(&engine->rank[number]);
    sw_rank_time_t rest = so_far(rank);
    sw_rank_time_add(&rest, &rank->since, -1);
    for (uint32_t i = 0; i < rank->section_count; i++)
        count_in(s, number, rank->sections[i].number,
                 &rank->sections[i].time);
    count_in(s, number, rank->section, &rest);
    for (uint32_t i = 0; i < count; i++) {
        sw_section_time_t *t = &s->times[i];
        if (s->seen[i] != number + 1)
            continue;
        sw_rank_time_add(&t->sum, &s->here[i], 1);
        if (!t->ranks++ || s->here[i].end > t->most.end) {
            t->most = s->here[i];
            t->longest = number;
        }
    }
}

sw_section_time_t *sw_sections_times(const sw_engine_t *engine,
                                     const sw_sections_t *sections,
                                     uint32_t *count)
{
    uint32_t highest = 0;
    for (uint32_t i = 0; i < engine->ranks; i++) {
        const sw_rank_t *rank = sw_rank_last(&engine->rank[i]);
        uint32_t all = rank->section_count;
        highest = sw_max(highest, rank->section);
        if (all)
            highest = sw_max(highest, rank->sections[all - 1].number);
    }
    *count = 0;
    if (!highest)
        return NULL;
    uint32_t n = sw_max(highest, sections->count) + 1;
    sums_t s = {.outer = calloc(n, sizeof *s.outer),
                .here = calloc(n, sizeof *s.here),
                .seen = calloc(n, sizeof *s.seen),
                .times = calloc(n, sizeof *s.times)};
    if (s.outer && s.here && s.seen && s.times) {
        for (uint32_t i = 1; i < n; i++)
            s.outer[i] = sw_sections_around(sections, i);
        for (uint32_t i = 0; i < engine->ranks; i++)
            count_rank(&s, engine, i, n);
        *count = n;
    } else {
        free(s.times);
        s.times = NULL;
    }
    free(s.outer);
    free(s.here);
    free(s.seen);
    return s.times;
}
