/*
 * nodes.h - the nodes of a run, and the bytes that they send each other.
 *
 * The system counts the bytes that each network interface has sent
 * (/sys/class/net). The first rank of each node reads its node's, without the
 * loopback. Ranks of virtual nodes send nothing through an interface: they
 * count no bytes. A machine may hold several nodes (containers).
 */
#ifndef SW_BENCH_NODES_H
#define SW_BENCH_NODES_H

#include <mpi.h>

#include <stdbool.h>

enum { SW_NODE_NAME = 64 };

typedef struct {
    int *of; /* [ranks] the number of each rank's node */
    int count;
    char (*name)[SW_NODE_NAME]; /* on rank 0: [ranks] each rank's node */
    bool crowded;               /* a machine has more ranks than cores */
    bool first;                 /* this rank is its node's first */
    bool counted;               /* every node's bytes can be counted */
} sw_nodes_t;

/* Find the nodes of the communicator's ranks, on all of them. False: no
 * memory. */
bool sw_nodes_find(sw_nodes_t *nodes, MPI_Comm comm);

/* Wait until no message of any rank is under way. */
void sw_nodes_settle(const sw_nodes_t *nodes, MPI_Comm comm);

/* The bytes that this node has sent until now; 0 on ranks that are not
 * first. */
double sw_nodes_sent(const sw_nodes_t *nodes);

#endif
