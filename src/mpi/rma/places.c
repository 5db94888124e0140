/*
 * places.c - see places.h.
 */
#include "places.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* Finds the first and the last word of a part, which hold the two halves of its
 * mark. In a part of one word the first half counts. False: it has no word. */
static bool words_of(uintptr_t base, uint64_t bytes, uintptr_t at[2])
{
    uintptr_t end = base + bytes;
    at[0] = (base + 3) & ~(uintptr_t)3;
    at[1] = (end & ~(uintptr_t)3) - 4;
    return base && bytes >= 4 && at[0] <= at[1];
}

static uint32_t half(uint64_t mark, int i)
{
    return (uint32_t)(mark >> 32 * i);
}

uint64_t sw_places_mark(void *base, uint64_t bytes, sw_marked_t *marked)
{
    uintptr_t at[2];
    uint64_t mark = sw_os_unique() | 0x100000001u; /* of no zeros */
    *marked = (sw_marked_t){{NULL, NULL}, {0, 0}};
    if (!words_of((uintptr_t)base, bytes, at))
        return 0;
    for (int i = 2; i-- > 0;) {
        marked->word[i] = (_Atomic uint32_t *)at[i];
        marked->old[i] = atomic_exchange(marked->word[i], half(mark, i));
    }
    if (sw_os_word_is((const void *)at[0], half(mark, 0)))
        return mark;
    sw_places_unmark(marked);
    return 0;
}

/* The other way round: in one word the first half stands over the second. */
void sw_places_unmark(sw_marked_t *marked)
{
    for (int i = 0; i < 2; i++)
        if (marked->word[i])
            atomic_store(marked->word[i], marked->old[i]);
    *marked = (sw_marked_t){{NULL, NULL}, {0, 0}};
}

bool sw_places_ask(MPI_Win win, const sw_part_of_window_t *part, int n, int me,
                   void **at)
{
    bool all = true;
    for (int i = 0; i < n && all; i++) {
        MPI_Aint size = -1;
        int unit;
        at[i] = NULL;
        all = i == me || !part[i].bytes ||
              (host.Win_shared_query(win, i, &size, &unit, &at[i]) ==
                   MPI_SUCCESS &&
               (uint64_t)size == part[i].bytes && at[i]);
    }
    return all;
}

static bool is_marked(uintptr_t base, const sw_part_of_window_t *part)
{
    uintptr_t at[2];
    return words_of(base, part->bytes, at) &&
           sw_os_word_is((const void *)at[0], half(part->mark, 0)) &&
           (at[0] == at[1] ||
            sw_os_word_is((const void *)at[1], half(part->mark, 1)));
}

/* Parts that begin at multiples of `round` bytes from each other. */
static bool guess(uintptr_t base, const sw_part_of_window_t *part, int n,
                  int me, uint64_t round, void **at)
{
    uintptr_t next = base;
    for (int i = 0; i < me; i++)
        next -= sw_round_up(part[i].bytes, round);
    for (int i = 0; i < n; i++) {
        at[i] = (void *)next;
        if (i != me && part[i].bytes &&
            (!part[i].mark || !is_marked(next, &part[i])))
            return false;
        next += sw_round_up(part[i].bytes, round);
    }
    return true;
}

bool sw_places_guess(const void *base, const sw_part_of_window_t *part, int n,
                     int me, void **at)
{
    if (base && (guess((uintptr_t)base, part, n, me, 1, at) ||
                 guess((uintptr_t)base, part, n, me, sw_os_page_size(), at)))
        return true;
    memset(at, 0, (size_t)n * sizeof *at);
    return false;
}

/* Several threads may come. */
void sw_places_search(sw_win_target_t *t)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    sw_os_place_t place;
    void *at = NULL;
    pthread_mutex_lock(&lock);
    if (atomic_load(&t->where) == SW_WIN_UNSEARCHED) {
        int saved = errno;
        if (sw_os_place(t->peer->card.pid, (const void *)(uintptr_t)t->away,
                        (size_t)t->bytes, &place))
            sw_os_find_places(&place, &t->bytes, 1, &at);
        errno = saved;
        t->base = at;
        atomic_store(&t->where, at ? SW_WIN_NEAR : SW_WIN_FAR);
    }
    pthread_mutex_unlock(&lock);
}
