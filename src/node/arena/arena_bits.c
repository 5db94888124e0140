/*
 * arena_bits.c - see arena_bits.h.
 */
#include "arena_bits.h"

#include "node/os/os.h"

#include <stddef.h>

#define CHUNK_PAGES ((uint64_t)1 << 18) /* 1 GiB */
#define CHUNKS 1024
#define WORDS (CHUNK_PAGES / 64)

typedef struct {
    _Atomic uint64_t word[SW_BITS][WORDS];
} chunk_t;

static _Atomic(chunk_t *) chunks[CHUNKS];

/* The chunk of a page; NULL: nothing in it was ever used, or no memory. */
static chunk_t *chunk_of(uint64_t page, bool make)
{
    uint64_t i = page / CHUNK_PAGES;
    chunk_t *c = i < CHUNKS
                     ? atomic_load_explicit(&chunks[i], memory_order_acquire)
                     : NULL;
    if (c || !make || i >= CHUNKS)
        return c;
    c = sw_os_map_private(NULL, sizeof *c);
    atomic_store_explicit(&chunks[i], c, memory_order_release);
    return c;
}

/* The next word of [*page, end): its address (NULL: all zeros), and which of
 * its bits are meant. Moves *page on. */
static _Atomic uint64_t *next_word(sw_bit_t bit, uint64_t *page, uint64_t end,
                                   bool make, uint64_t *mask)
{
    uint64_t low = *page % 64, n = sw_min(64 - low, end - *page);
    chunk_t *c = chunk_of(*page, make);
    *mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << low;
    _Atomic uint64_t *w = c ? &c->word[bit][*page % CHUNK_PAGES / 64] : NULL;
    *page += n;
    return w;
}

uint64_t sw_bits_count(sw_bit_t bit, uint64_t page, uint64_t end)
{
    uint64_t n = 0, mask;
    while (page < end) {
        _Atomic uint64_t *w = next_word(bit, &page, end, false, &mask);
        if (w)
            n += (uint64_t)__builtin_popcountll(
                atomic_load_explicit(w, memory_order_acquire) & mask);
    }
    return n;
}

bool sw_bits_all(sw_bit_t bit, uint64_t page, uint64_t end)
{
    uint64_t mask;
    while (page < end) {
        _Atomic uint64_t *w = next_word(bit, &page, end, false, &mask);
        if (!w ||
            (atomic_load_explicit(w, memory_order_acquire) & mask) != mask)
            return false;
    }
    return true;
}

bool sw_bits_any(sw_bit_t bit, uint64_t page, uint64_t end)
{
    uint64_t mask;
    while (page < end) {
        _Atomic uint64_t *w = next_word(bit, &page, end, false, &mask);
        if (w && (atomic_load_explicit(w, memory_order_acquire) & mask))
            return true;
    }
    return false;
}

bool sw_bits_is(sw_bit_t bit, uint64_t page)
{
    return sw_bits_any(bit, page, page + 1);
}

bool sw_bits_set(sw_bit_t bit, uint64_t page, uint64_t end, bool on)
{
    uint64_t mask;
    /* What is shown is backed. */
    sw_assert(!on || bit != SW_BIT_SHOWN ||
              sw_bits_all(SW_BIT_BACKED, page, end));
    sw_assert(on || bit != SW_BIT_BACKED ||
              !sw_bits_any(SW_BIT_SHOWN, page, end));
    while (page < end) {
        _Atomic uint64_t *w = next_word(bit, &page, end, on, &mask);
        if (!w && on)
            return false;
        if (w && on)
            atomic_fetch_or_explicit(w, mask, memory_order_release);
        else if (w)
            atomic_fetch_and_explicit(w, ~mask, memory_order_release);
    }
    return true;
}

bool sw_bits_next(sw_bit_t bit, bool so, uint64_t *first, uint64_t end,
                  uint64_t *pages)
{
    uint64_t page = *first;
    while (page < end && sw_bits_is(bit, page) != so) {
        /* A whole word, or a whole chunk, has none. */
        bool whole = page % 64 == 0 && page + 64 <= end;
        if (whole && !chunk_of(page, false) && so)
            page = sw_min(end, (page / CHUNK_PAGES + 1) * CHUNK_PAGES);
        else if (whole && (so ? !sw_bits_any(bit, page, page + 64)
                              : sw_bits_all(bit, page, page + 64)))
            page += 64;
        else
            page++;
    }
    *first = page;
    while (page < end && sw_bits_is(bit, page) == so) {
        bool whole = page % 64 == 0 && page + 64 <= end;
        page += whole && (so ? sw_bits_all(bit, page, page + 64)
                             : !sw_bits_any(bit, page, page + 64))
                    ? 64
                    : 1;
    }
    *pages = page - *first;
    return *pages > 0;
}

void sw_bits_forget(void)
{
    _Static_assert(SW_BIT_SPOKEN == SW_BITS - 1, "the last one stays");
    for (int i = 0; i < CHUNKS; i++) {
        chunk_t *c = atomic_load(&chunks[i]);
        if (c)
            sw_os_discard(c, offsetof(chunk_t, word[SW_BIT_SPOKEN]));
    }
}
