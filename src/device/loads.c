/*
 * loads.c - see loads.h.
 */
#include "loads.h"

#include "node/os/os.h"

#define WORDS_MAX 4096

static struct {
    bool begun, changed;
    const uint64_t *data;
    uint64_t last;
    uint16_t place[WORDS_MAX]; /* words that have followed the count */
    size_t places;
} watch;

static uint64_t word(size_t i)
{
    return __atomic_load_n(&watch.data[watch.place[i]], __ATOMIC_RELAXED);
}

static void begin(void)
{
    size_t words, list;
    watch.begun = true;
    watch.data = sw_os_linker_data(&words, &list);
    if (!watch.data || words > WORDS_MAX)
        return;
    for (size_t i = 0; i < words; i++)
        if (i != list + 1)
            watch.place[watch.places++] = (uint16_t)i;
}

/* Another thread may load something between the caller's question and this
 * look. The true word is then dropped, and the looks stay slow. */
const uint64_t *sw_loads_learn(uint64_t now)
{
    if (!watch.begun)
        begin();
    else
        watch.changed |= now != watch.last;
    watch.last = now;
    size_t kept = 0;
    for (size_t i = 0; i < watch.places; i++)
        if (word(i) == now)
            watch.place[kept++] = watch.place[i];
    watch.places = kept;
    return watch.changed && kept == 1 ? &watch.data[watch.place[0]] : NULL;
}
