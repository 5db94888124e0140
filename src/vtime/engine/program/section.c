/*
 * section.c - the time that a rank spends in sections, as it goes.
 */
#include "section.h"
#include "node/base/grow.h"

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

void sw_section_enter(sw_engine_t *engine, sw_rank_t *rank, uint32_t number)
{
    if (number == rank->section)
        return;
    sw_rank_time_t now = sw_rank_so_far(rank);
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
