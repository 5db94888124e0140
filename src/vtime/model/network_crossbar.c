/*
 * network_crossbar.c - one switch that never blocks.
 *
 *     network crossbar [ports N] [latency NS] [G NS_A_BYTE]
 *
 * Each node has a cable, that is a link to the switch (number: the node) and
 * one from it (ports + the node). Messages wait for each other only where they
 * leave one node or go to one node. A switch has as many ports as there are
 * nodes unless it is said.
 */
#include "network_kind.h"

static const char *const keys[] = {"ports", NULL};

static bool make(sw_network_t *network, const sw_network_words_t *words)
{
    sw_ps_t latency;
    double byte;
    if (!sw_network_number(words, "ports", network->room, 1, &network->room) ||
        !sw_network_time(words, "latency", 0, &latency) ||
        !sw_network_rate(words, "G", 0, &byte))
        return false;
    network->links = 2 * network->room;
    network->longest = 2;
    sw_network_add_sort(network, 0, latency, byte);
    return true;
}

static uint32_t route(const sw_network_t *network, uint32_t from, uint32_t to,
                      uint64_t salt, uint32_t *links)
{
    links[0] = from;
    links[1] = (uint32_t)network->room + to;
    return 2;
}

const sw_network_kind_t sw_network_crossbar = {"crossbar", keys, make, route};
