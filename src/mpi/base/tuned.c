/*
 * tuned.c - see tuned.h.
 */
#include "tuned.h"

#include "aware.h"
#include "ways_file.h"
#include "node/base/settings.h"

#include <stdlib.h>

static bool agreed;

static bool is_given(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

static void set(const sw_ways_entry_t *entry)
{
#define X(field, NAME)                                          \
    if (entry->setting[SW_WAYS_##NAME] != SW_WAYS_NO_SETTING && \
        !is_given("STRAIGHTWAY_" #NAME))                        \
        sw_settings.field = (size_t)entry->setting[SW_WAYS_##NAME];
    SW_WAYS_SETTINGS(X)
#undef X
}

uint64_t sw_tuned_start(int ranks)
{
    if (!sw_settings.tuned)
        return 0;
    const sw_ways_table_t *table = sw_ways_near();
    const sw_ways_entry_t *entry = sw_ways_find_near(table, ranks);
    if (entry)
        set(entry);
    return table->hash;
}

void sw_tuned_agree(bool alike, bool speaks)
{
    agreed = alike;
    if (!alike && speaks)
        sw_say("the ranks of a node have read different files of ways: give "
               "all the same one with --ways FILE (no collective is left to "
               "the MPI)");
}

const sw_ways_entry_t *sw_tuned_find(int members)
{
    return agreed && sw_settings.tuned && !sw_aware_lacks()
               ? sw_ways_find_near(sw_ways_near(), members)
               : NULL;
}
