/*
 * nodes.c - see nodes.h.
 */
#include "nodes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NET "/sys/class/net"
#define QUIET_NS 3000000 /* the kernel has sent what it has by then */

/* The bytes that all interfaces but the loopback have sent; negative: the
 * system does not say. */
static double read_sent(void)
{
    double all = -1;
    DIR *folder = opendir(NET);
    for (struct dirent *one; folder && (one = readdir(folder));) {
        char path[sizeof NET "//statistics/tx_bytes" + sizeof one->d_name];
        unsigned long long bytes;
        if (one->d_name[0] == '.' || !strcmp(one->d_name, "lo"))
            continue;
        snprintf(path, sizeof path, NET "/%s/statistics/tx_bytes", one->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%llu", &bytes) == 1)
            all = (all < 0 ? 0 : all) + (double)bytes;
        if (file)
            fclose(file);
    }
    if (folder)
        closedir(folder);
    return all;
}

/* The first rank of this rank's node, of those in the communicator. */
static int find_first(MPI_Comm comm, int rank)
{
    const char *text = getenv("STRAIGHTWAY_NODE_SIZE");
    int size = text ? atoi(text) : 0, first = rank;
    MPI_Comm node;
    if (size > 0)
        return rank / size * size;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return first;
}

/* A number that the ranks of one machine share: its boot has an identity. */
static unsigned long long find_machine(void)
{
    unsigned long long id = 14695981039346656037u;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        id = (id ^ (unsigned)c) * 1099511628211u;
    if (file)
        fclose(file);
    return id;
}

/* Has this rank's machine more ranks than cores? False: no memory. */
static bool measure_crowd(MPI_Comm comm, int ranks, int *crowded)
{
    unsigned long long mine = find_machine(),
                       *all = malloc((size_t)ranks * sizeof *all);
    int here = 0;
    if (!all)
        return false;
    MPI_Allgather(&mine, 1, MPI_UNSIGNED_LONG_LONG, all, 1,
                  MPI_UNSIGNED_LONG_LONG, comm);
    for (int r = 0; r < ranks; r++)
        here += all[r] == mine;
    free(all);
    *crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
    return true;
}

/* Rank 0 gets the name of each rank's node. False: no memory. */
static bool find_names(sw_nodes_t *nodes, MPI_Comm comm, int rank, int ranks)
{
    char mine[SW_NODE_NAME] = "";
    gethostname(mine, sizeof mine - 1);
    int good = 1;
    if (rank == 0) {
        nodes->name = malloc((size_t)ranks * sizeof *nodes->name);
        good = nodes->name != NULL;
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, comm);
    if (good)
        MPI_Gather(mine, SW_NODE_NAME, MPI_CHAR, nodes->name, SW_NODE_NAME,
                   MPI_CHAR, 0, comm);
    return good;
}

bool sw_nodes_find(sw_nodes_t *nodes, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *nodes = (sw_nodes_t){.of = malloc((size_t)ranks * sizeof *nodes->of)};
    if (!nodes->of)
        return false;
    int first = find_first(comm, rank);
    MPI_Allgather(&first, 1, MPI_INT, nodes->of, 1, MPI_INT, comm);
    /* A node's first rank comes before its others: it has its number. */
    for (int r = 0; r < ranks; r++)
        nodes->of[r] = nodes->of[r] == r ? nodes->count++
                                         : nodes->of[nodes->of[r]];
    nodes->first = first == rank;
    /* Some rank's machine is crowded; some node's bytes are not counted. */
    int some[2], all[2];
    if (!find_names(nodes, comm, rank, ranks) ||
        !measure_crowd(comm, ranks, &some[0]))
        return false;
    some[1] = getenv("STRAIGHTWAY_NODE_SIZE") != NULL || read_sent() < 0;
    MPI_Allreduce(some, all, 2, MPI_INT, MPI_MAX, comm);
    nodes->crowded = all[0];
    nodes->counted = !all[1] && nodes->count > 1;
    return true;
}

void sw_nodes_settle(const sw_nodes_t *nodes, MPI_Comm comm)
{
    if (!nodes->counted)
        return;
    MPI_Barrier(comm);
    nanosleep(&(struct timespec){.tv_nsec = QUIET_NS}, NULL);
    MPI_Barrier(comm);
}

double sw_nodes_sent(const sw_nodes_t *nodes)
{
    return nodes->counted && nodes->first ? read_sent() : 0;
}
