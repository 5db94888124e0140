/*
 * arena_state.c - what the arena is: its ranges, its records, its limits.
 *
 * The start sets this (arena.c), and all other files here read it. They do not
 * need the start, and nor do tests of one of them.
 */
#include "arena_impl.h"

sw_arena_t sw_arena = {.fd = -1};
size_t sw_arena_plain_max = SIZE_MAX, sw_arena_asked_max = SIZE_MAX;
size_t sw_arena_heap_limit = SIZE_MAX;
bool sw_arena_asks_huge;

sw_page_t *sw_pages;
sw_zone_t sw_heap_zone, sw_common_zone;

sw_show_mode_t sw_show_mode;
uint64_t sw_shown_from, sw_shown_bytes = INT64_MAX;
