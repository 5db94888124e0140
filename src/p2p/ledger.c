/*
 * ledger.c - see ledger.h.
 */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static sw_count_t nobody;
sw_count_t *sw_ledger_doorbell = &nobody;
_Atomic bool sw_ledger_stale;
bool sw_ledger_shared;

static int places;
static char *base;              /* of this process's ledger                 */
static sw_counts_t *taken;      /* [places]                                 */

#define HEAD (2 * SW_LINE)      /* the block's header; the doorbell         */

static sw_row_t row_of(char *ledger, int n, int place)
{
    sw_counts_t *rows = (sw_counts_t *)(ledger + HEAD);
    return (sw_row_t){.doorbell = (sw_count_t *)(ledger + SW_LINE),
                      .offers = &rows[place], .heard = &rows[n + place]};
}

uint64_t sw_ledger_open(int n)
{
    size_t bytes = HEAD + 2 * (size_t)n * sizeof(sw_counts_t);
    uint64_t at = sw_segment_alloc(bytes, bytes, 1);
    taken = aligned_alloc(SW_LINE, (size_t)n * sizeof *taken);
    if (!at || !taken)
        return 0;
    memset(taken, 0, (size_t)n * sizeof *taken);
    places = n;
    base = sw_segment()->base + at;
    sw_ledger_doorbell = row_of(base, n, 0).doorbell;
    return at;
}

sw_row_t sw_ledger_row(const sw_peer_t *peer, uint64_t ledger, int n, int me)
{
    return row_of(peer->control + ledger, n, me);
}

static uint32_t get(const sw_count_t *at)
{
    return atomic_load_explicit((sw_count_t *)(uintptr_t)at,
                                memory_order_relaxed);
}

/* A sender counts its offer before it sends the descriptor, so the owner never
 * takes more than was offered. For sw_assert. */
static bool covers(const sw_count_t *offers, const sw_count_t *takes)
{
    uint32_t n = get(takes);
    return (int32_t)(get(offers) - n) >= 0;
}

void sw_ledger_take(int place, unsigned channel)
{
    if (!base)
        return;
    sw_count(&taken[place].channel[channel], 1);
    sw_count(&taken[place].total, 1);
    sw_assert(covers(&row_of(base, places, place).offers->channel[channel],
                     &taken[place].channel[channel]));
    sw_assert(covers(&row_of(base, places, place).offers->total,
                     &taken[place].total));
    sw_ledger_recount();
}

void sw_ledger_hear(int place, unsigned channel)
{
    if (base)
        sw_count(&row_of(base, places, place).heard->channel[channel], 1);
}

void sw_ledger_due(void (*each)(int place, unsigned channels))
{
    static int first;
    atomic_store_explicit(&sw_ledger_stale, false, memory_order_relaxed);
    if (atomic_load_explicit(sw_ledger_doorbell, memory_order_relaxed))
        atomic_exchange_explicit(sw_ledger_doorbell, 0, memory_order_acq_rel);
    /* Each time from another place on, since the caller may not have room for
     * all. */
    first = (first + 1) % places;
    for (int k = 0; k < places; k++) {
        int i = (first + k) % places;
        const sw_counts_t *offers = row_of(base, places, i).offers;
        if (get(&offers->total) == get(&taken[i].total))
            continue;
        unsigned channels = 0;
        for (unsigned h = 0; h < SW_CHANNELS; h++)
            if (get(&offers->channel[h]) != get(&taken[i].channel[h]))
                channels |= 1u << h;
        if (channels)
            each(i, channels);
    }
}
