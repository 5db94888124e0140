/*
 * network_torus.c - a torus of any dimensions.
 *
 *     network torus size 8x8x4 [hosts N] [latency NS] [G NS_A_BYTE]
 *                   [host_latency NS] [host_G NS_A_BYTE]
 *     network torus [dimensions N] ...
 *
 * Routers in a grid whose ends meet; at each one `hosts` nodes (1). A node's
 * router is its number / hosts, and a router's first coordinate counts
 * fastest. Messages go the shorter way round, first in the first dimension,
 * then in the next (dimension order: Dally and Seitz 1987); upwards where both
 * ways are equally long.
 *
 * Without a size it is about as long in each of its dimensions (3), and as
 * small as will do. Host links have the latency and the speed of the others
 * unless it is said. Numbers: nodes to routers, routers to nodes, then for each
 * router two for each dimension, up and down.
 */
#include "network_kind.h"

#include <stdlib.h>

static const char *const keys[] = {
    "size", "dimensions", "hosts", "host_latency", "host_G", NULL,
};

typedef struct {
    int dimensions;
    uint32_t size[SW_NETWORK_LIST];
    uint32_t hosts, nodes;
} torus_t;

/* As nearly a cube as can be, with so many routers at least. */
static void shape(torus_t *of, uint64_t routers)
{
    for (int d = 0; d < of->dimensions; d++) {
        uint64_t side = 0, all;
        do {
            side++;
            all = 1;
            for (int k = d; k < of->dimensions && all < routers; k++)
                all *= side;
        } while (all < routers);
        of->size[d] = (uint32_t)side;
        routers = (routers + side - 1) / side;
    }
}

static bool make(sw_network_t *network, const sw_network_words_t *words)
{
    torus_t *of = network->of = calloc(1, sizeof *of);
    sw_ps_t latency, host_latency;
    double byte, host_byte;
    uint64_t hosts, dimensions;
    if (!of)
        return sw_network_fail(words, "there is no memory for the network");
    if (!sw_network_list(words, "size", of->size, &of->dimensions) ||
        !sw_network_number(words, "hosts", 1, 1, &hosts) ||
        !sw_network_number(words, "dimensions", 3, 1, &dimensions) ||
        !sw_network_time(words, "latency", 0, &latency) ||
        !sw_network_rate(words, "G", 0, &byte) ||
        !sw_network_time(words, "host_latency", latency, &host_latency) ||
        !sw_network_rate(words, "host_G", byte, &host_byte))
        return false;
    if (dimensions > SW_NETWORK_LIST)
        return sw_network_fail(words, "dimensions must be at most %d",
                               SW_NETWORK_LIST);
    if (of->dimensions && sw_network_has(words, "dimensions"))
        return sw_network_fail(words, "a torus has a size, or dimensions, not "
                                      "both");
    if (!of->dimensions) {
        of->dimensions = (int)dimensions;
        shape(of, (network->room + hosts - 1) / hosts);
    }
    uint64_t routers = 1, longest = 2;
    for (int d = 0; d < of->dimensions; d++) {
        routers *= of->size[d];
        longest += of->size[d] / 2;
        if (routers * hosts > UINT32_MAX || routers > UINT32_MAX)
            return sw_network_fail(words,
                                   "this torus has more than %u places, "
                                   "which is the most there can be",
                                   UINT32_MAX);
    }
    network->room = routers * hosts;
    network->links = 2 * network->room + 2 * routers * (unsigned)of->dimensions;
    network->longest = (uint32_t)longest;
    of->hosts = (uint32_t)hosts;
    of->nodes = (uint32_t)network->room;
    sw_network_add_sort(network, 0, host_latency, host_byte);
    sw_network_add_sort(network, 2 * network->room, latency, byte);
    return true;
}

static uint32_t route(const sw_network_t *network, uint32_t from, uint32_t to,
                      uint64_t salt, uint32_t *links)
{
    const torus_t *of = network->of;
    uint32_t count = 0, stride = 1;
    uint32_t at = from / of->hosts, end = to / of->hosts;
    uint32_t base = 2 * of->nodes, each = 2 * (uint32_t)of->dimensions;
    links[count++] = from;
    for (int d = 0; d < of->dimensions; d++) {
        uint32_t size = of->size[d];
        uint32_t mine = at / stride % size, other = end / stride % size;
        uint32_t up = other >= mine ? other - mine : other + size - mine;
        bool down = up > size - up;
        for (uint32_t left = down ? size - up : up; left; left--) {
            links[count++] = base + at * each + 2 * (uint32_t)d + down;
            uint32_t next = down ? (mine ? mine - 1 : size - 1)
                                 : (mine + 1 < size ? mine + 1 : 0);
            at = at - mine * stride + next * stride;
            mine = next;
        }
        stride *= size;
    }
    links[count++] = of->nodes + to;
    return count;
}

const sw_network_kind_t sw_network_torus = {"torus", keys, make, route};
