/*
 * A reader that looks for a region while its owner adds and removes others
 * finds it, or hears nothing; it never hears of a mixture. Threads are the
 * members, for race detectors.
 */
#include "must.h"
#include "rma/regions.h"

#include <pthread.h>

#define CHANGES 200000
#define LASTING 0x100000u /* one region that stays */

static sw_regions_t table;
static _Atomic bool over;

/* Region k lies at its own place, with its own length, and nowhere near. */
static uint64_t base_of(uint64_t k)
{
    return 0x1000000 + k * 0x10000;
}

static void *reader(void *unused)
{
    uint64_t found = 0;
    (void)unused;
    while (!atomic_load(&over)) {
        uint64_t at = sw_regions_find(&table, LASTING + 8, LASTING + 16);
        MUST(at == UINT64_MAX || at == 7008);
        found += at == 7008;
        for (uint64_t k = 0; k < 60; k++) {
            at = sw_regions_find(&table, base_of(k) + k, base_of(k) + 100 + k);
            MUST(at == UINT64_MAX || at == k * 1000 + k);
            MUST(sw_regions_find(&table, base_of(k) + k,
                                 base_of(k) + 101 + k) == UINT64_MAX);
        }
    }
    MUST(found > 0);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sw_regions_add(&table, LASTING, 0x1000, 7000);
    MUST(sw_regions_find(&table, LASTING, LASTING + 0x1000) == 7000);
    MUST(sw_regions_find(&table, LASTING, LASTING + 0x1001) == UINT64_MAX);
    MUST(sw_regions_find(&table, LASTING - 1, LASTING + 8) == UINT64_MAX);
    MUST(pthread_create(&thread, NULL, reader, NULL) == 0);
    for (uint64_t i = 0; i < CHANGES; i++) {
        uint64_t k = i % 60;
        sw_regions_add(&table, base_of(k), 100 + k, k * 1000);
        if (i % 16 == 15)
            for (uint64_t j = i - 15; j <= i; j++)
                sw_regions_remove(&table, base_of(j % 60));
        if (i % 1024 == 0)
            sched_yield();
    }
    atomic_store(&over, true);
    MUST(pthread_join(thread, NULL) == 0);
    /* A full table takes no more, and has room again. */
    for (uint64_t k = 0; k < 60; k++)
        sw_regions_remove(&table, base_of(k));
    for (uint64_t k = 0; k < 40; k++)
        sw_regions_add(&table, base_of(k), 100, k);
    MUST(sw_regions_find(&table, base_of(30), base_of(30) + 1) == 30);
    MUST(sw_regions_find(&table, base_of(31), base_of(31) + 1) == UINT64_MAX);
    sw_regions_remove(&table, base_of(3));
    sw_regions_add(&table, base_of(31), 100, 31);
    MUST(sw_regions_find(&table, base_of(31), base_of(31) + 1) == 31);
    return 0;
}
