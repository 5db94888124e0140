/*
 * gaps.c - see gaps.h. A process keeps so many records apart (some 65,536) that
 * they have their place in an array; a number beyond all of them is damage, and
 * is left out.
 */
#include "gaps.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RECORDS ((uint64_t)1 << 24)

static sw_gap_thread_t *thread_of(sw_gaps_t *g, uint32_t rank, uint32_t thread)
{
    /* The blocks of a thread often follow each other. */
    for (uint32_t i = g->count; i-- > 0;)
        if (g->threads[i].rank == rank && g->threads[i].thread == thread)
            return &g->threads[i];
    if (!sw_grow(&g->threads, g->count, &g->room, sizeof *g->threads))
        return NULL;
    g->threads[g->count] = (sw_gap_thread_t){.rank = rank, .thread = thread};
    return &g->threads[g->count++];
}

/* NULL: no memory. */
static sw_gap_t *gap_of(sw_gap_thread_t *t, uint64_t record)
{
    if (record >= t->room) {
        size_t room = t->room ? t->room : 64;
        while (room <= record)
            room *= 2;
        sw_gap_t *more = realloc(t->gaps, room * sizeof *more);
        if (!more)
            return NULL;
        memset(more + t->room, 0, (room - t->room) * sizeof *more);
        t->gaps = more;
        t->room = room;
    }
    return &t->gaps[record];
}

static bool add_event(sw_gap_thread_t *t, const sw_trace_event_t *e)
{
    if (e->record >= MOST_RECORDS)
        return true;
    sw_gap_t *gap = gap_of(t, e->record);
    if (!gap)
        return false;
    gap->calls++;
    gap->waited += e->waited;
    if (t->has_last && e->begin > t->last_end) {
        uint64_t computed = e->begin - t->last_end;
        sw_gap_t *last = &t->gaps[t->last_record];
        gap->before += computed;
        last->after += computed;
        last->hidden += computed < t->last_waited ? computed : t->last_waited;
    }
    t->has_last = true;
    t->last_record = e->record;
    t->last_end = e->end;
    t->last_waited = e->waited;
    return true;
}

bool sw_gaps_add(sw_gaps_t *gaps, sw_trace_reader_t *reader)
{
    uint64_t damaged = 0;
    while (sw_trace_block(reader)) {
        sw_gap_thread_t *t = thread_of(gaps, reader->rank, reader->thread);
        if (!t)
            return false;
        if (reader->damaged != damaged)
            for (uint32_t i = 0; i < gaps->count; i++)
                gaps->threads[i].has_last = false;
        damaged = reader->damaged;
        while (sw_trace_event(reader))
            if (!add_event(t, &reader->event))
                return false;
    }
    return true;
}

void sw_gaps_put(const sw_gaps_t *g, FILE *to)
{
    const char *comma = "";
    for (uint32_t i = 0; i < g->count; i++) {
        const sw_gap_thread_t *t = &g->threads[i];
        for (size_t r = 1; r < t->room; r++) {
            const sw_gap_t *gap = &t->gaps[r];
            if (!gap->calls)
                continue;
            fprintf(to, "%s[%u, %u, %zu, %llu, %llu, %llu, %llu, %llu]", comma,
                    t->rank, t->thread, r, (unsigned long long)gap->calls,
                    (unsigned long long)gap->before,
                    (unsigned long long)gap->after,
                    (unsigned long long)gap->waited,
                    (unsigned long long)gap->hidden);
            comma = ", ";
        }
    }
}

void sw_gaps_free(sw_gaps_t *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        free(g->threads[i].gaps);
    free(g->threads);
}
