/*
 * region.c - see region.h.
 */
#include "region.h"

#include "clock.h"
#include "profile/base/memory.h"
#include "node/base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Atomic uint32_t sw_region_now;
void (*_Atomic sw_region_changed)(uint32_t number);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_region_t *regions[SW_REGIONS_MAX];
static _Atomic uint32_t count = 1; /* with number 0, which has no entry */
static uint32_t too_deep;          /* entries that found no room */

const sw_region_t *sw_region(uint32_t number)
{
    return number < SW_REGIONS_MAX ? regions[number] : NULL;
}

uint32_t sw_region_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

/* The region at hand is this one. */
static void now_in(uint32_t number)
{
    atomic_store(&sw_region_now, number);
    void (*changed)(uint32_t number) = atomic_load(&sw_region_changed);
    if (changed)
        changed(number);
}

/* Its number, made at need; 0: there is no room. */
static uint32_t find(uint32_t outer, const char *name)
{
    char full[SW_REGION_NAME];
    const sw_region_t *around = sw_region(outer);
    int n = snprintf(full, sizeof full, "%s%s%s", around ? around->name : "",
                     around ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof full)
        return 0;
    uint32_t all = sw_region_count();
    for (uint32_t i = 1; i < all; i++)
        if (regions[i]->outer == outer && !strcmp(regions[i]->name, full))
            return i;
    sw_region_t *r = all < SW_REGIONS_MAX ? sw_profile_memory(sizeof *r) : NULL;
    if (!r)
        return 0;
    memcpy(r->name, full, sizeof full);
    r->outer = outer;
    regions[all] = r;
    atomic_store_explicit(&count, all + 1, memory_order_release);
    return all;
}

void sw_region_begin(const char *name)
{
    static _Atomic bool said;
    pthread_mutex_lock(&lock);
    uint32_t number = too_deep ? 0 : find(atomic_load(&sw_region_now), name);
    if (number) {
        sw_region_t *r = regions[number];
        atomic_fetch_add(&r->entered, 1);
        atomic_store(&r->since, sw_clock_ticks());
        now_in(number);
    } else {
        too_deep++;
        sw_say_once(&said,
                    "region '%s': there are too many regions (%d), or "
                    "the names of those around it are too long (%d letters); "
                    "it is counted with the one around it",
                    name, SW_REGIONS_MAX - 1, SW_REGION_NAME - 1);
    }
    pthread_mutex_unlock(&lock);
}

static const char *own_name(const sw_region_t *r)
{
    const sw_region_t *around = sw_region(r->outer);
    return around ? r->name + strlen(around->name) + 1 : r->name;
}

bool sw_region_end(const char *name)
{
    static _Atomic bool said;
    bool is = true;
    pthread_mutex_lock(&lock);
    uint32_t number = atomic_load(&sw_region_now);
    if (too_deep) {
        too_deep--;
    } else if (!number || (name && strcmp(own_name(regions[number]), name))) {
        is = false;
        sw_say_once(&said,
                    "the end of region '%s' was called, but the program "
                    "is in %s%s%s: ignored",
                    name ? name : "", number ? "region '" : "none",
                    number ? regions[number]->name : "", number ? "'" : "");
    } else {
        sw_region_t *r = regions[number];
        uint64_t spent = sw_clock_ticks() - atomic_load(&r->since);
        atomic_fetch_add(&r->ticks, spent);
        atomic_store(&r->since, 0);
        now_in(r->outer);
    }
    pthread_mutex_unlock(&lock);
    return is;
}

void sw_region_level(int level)
{
    char name[32];
    snprintf(name, sizeof name, "phase %lld",
             level < 0 ? -(long long)level : level);
    if (level > 1)
        sw_region_begin(name);
    else if (level < 0)
        sw_region_end(name);
}
