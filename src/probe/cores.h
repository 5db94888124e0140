/*
 * cores.h - what lies between two cores: the round trip of a cache line, and
 * reading what the other core has written.
 */
#ifndef SW_PROBE_CORES_H
#define SW_PROBE_CORES_H

/* Measure every two of the processors in `list`, "0,2,4", and print a JSON
 * object:
 *
 *   "processors"   the numbers
 *   "round_trip"   ns, [a][b], alike both ways
 *   "read"         GB/s, [a][b]: b reads 1 MiB that a has written
 *
 * A pair takes some 20 ms. The exit status; 1 where a processor is refused, or
 * a reader saw wrong data. */
int sw_put_cores(const char *list);

#endif
