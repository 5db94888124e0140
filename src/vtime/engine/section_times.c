/*
 * section_times.c - see section_times.h.
 */
#include "section_times.h"

#include "base/state.h"

#include <stdlib.h>

typedef struct {
    uint32_t *outer;      /* by section */
    sw_rank_time_t *here; /* of the rank at hand */
    uint32_t *seen;       /* the last rank that was there, and 1 */
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
    sw_rank_time_t rest = sw_rank_so_far(rank);
    sw_rank_time_add(&rest, &rank->since, -1);
    for (uint32_t i = 0; i < rank->section_count; i++)
        count_in(s, number, rank->sections[i].number, &rank->sections[i].time);
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
