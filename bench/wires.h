/*
 * wires.h - what carries rank 0's messages to other nodes, as the system shows
 * it: this node's addresses of the TCP connections to others, and the adapters'
 * devices that the process has opened.
 *
 * An MPI may open a device that it does not use in the end. No other transport
 * (UDP, an adapter behind a socket of its own kind) shows here.
 */
#ifndef SW_BENCH_WIRES_H
#define SW_BENCH_WIRES_H

#include <stdio.h>

#include "nodes.h"

/* Let rank 0 and a rank of another node exchange a message: many hosts connect
 * when they first need to. All ranks call. */
void sw_wires_use(const sw_nodes_t *nodes, MPI_Comm comm);

/* Rank 0 writes the member "wires": {"tcp": [address, ...], "devices": [path,
 * ...]}, each once. */
void sw_wires_put(FILE *file);

#endif
