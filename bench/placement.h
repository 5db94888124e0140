/*
 * placement.h - where the ranks of a job are, for `straightway topo`.
 */
#ifndef SW_BENCH_PLACEMENT_H
#define SW_BENCH_PLACEMENT_H

#include <stdbool.h>

/* Let rank 0 write a line of JSON for each rank: its node, the processors that
 * it may use, and the NUMA domain of its memory. The line of a rank with a
 * description of its node has that, too (sw_bench_plan_t.placement). With
 * `between` the first ranks of each two nodes then exchange messages. False:
 * some rank had no memory, or could not read its description. */
bool sw_placement(bool (*start)(void));

#endif
