/*
 * network_fat_tree.c - trees of switches that grow fatter towards the top.
 *
 *     network fat_tree radix R [levels L] [nodes_per_leaf N]
 *                      [latency NS] [G NS_A_BYTE] [host_latency NS]
 *                      [host_G NS_A_BYTE]
 *     network fat_tree down 18x18x36 up 1x18x18 ...
 *
 * An extended generalized fat tree (Oehring, Ibel, Das, Kumar 1995): on level l
 * (from 1) each switch has down[l] children, and each of those has up[l]
 * parents. Nodes are on level 0. With switches of radix R, half of a switch's
 * ports go down and half up, on the highest level all down: a k-ary n-tree
 * (Petrini and Vanneschi 1997) for k = R/2. `nodes_per_leaf` tapers it: a leaf
 * then has R - N links up. Without `levels` there are as few as will do.
 *
 * Messages go up as far as they must, and down again. Where there is a choice,
 * the target decides (D-mod-k: Zahavi, Johnson, Kerbyson, Lang 2010): parent
 * number  floor(to / (up[1] ... up[l])) mod up[l + 1]. So messages from
 * anywhere to one node come down one way. In a full tree shifts (each node i to
 * i + k) never meet.
 *
 * A switch of level l is known by its digits (a[h] .. a[l+1], b[l] .. b[1]):
 * where it hangs, and which of the parents it is on each level below. A link
 * up to it has those of the switch and a[l], its child's place. Numbers: the
 * links of level 1 (up, then down), of level 2, ...
 */
#include "network_kind.h"

#include <stdlib.h>

static const char *const keys[] = {
    "radix", "levels",       "nodes_per_leaf", "down",
    "up",    "host_latency", "host_G",         NULL,
};

typedef struct {
    int levels;
    uint32_t down[SW_NETWORK_LIST], up[SW_NETWORK_LIST];
    uint32_t base[SW_NETWORK_LIST];  /* of a level's links upwards */
    uint32_t count[SW_NETWORK_LIST]; /* in one direction */
} tree_t;

/* How many levels it takes to have room for the nodes. */
static uint64_t enough(uint64_t nodes, uint64_t radix, uint64_t leaf)
{
    uint64_t levels = 2, room = (leaf ? leaf : radix / 2) * radix;
    if (nodes <= (leaf ? leaf : radix))
        return 1;
    while (room < nodes && levels < SW_NETWORK_LIST) {
        room *= radix / 2;
        levels++;
    }
    return levels;
}

/* Of switches with so many ports. */
static bool of_radix(tree_t *of, uint64_t nodes,
                     const sw_network_words_t *words)
{
    uint64_t radix, levels, leaf;
    if (!sw_network_has(words, "radix"))
        return sw_network_fail(words, "a fat tree needs radix, or down and "
                                      "up");
    if (!sw_network_number(words, "radix", 0, 2, &radix) ||
        !sw_network_number(words, "nodes_per_leaf", 0, 1, &leaf) ||
        !sw_network_number(words, "levels", enough(nodes, radix, leaf), 1,
                           &levels))
        return false;
    if (levels > SW_NETWORK_LIST)
        return sw_network_fail(words, "levels must be at most %d",
                               SW_NETWORK_LIST);
    if (!leaf)
        leaf = levels == 1 ? radix : radix / 2;
    if (leaf > radix || (levels > 1 && leaf == radix))
        return sw_network_fail(words,
                               "nodes_per_leaf is %llu, and a switch "
                               "has %llu ports%s",
                               (unsigned long long)leaf,
                               (unsigned long long)radix,
                               levels > 1 ? ", of which some must go up" : "");
    of->levels = (int)levels;
    for (int l = 0; l < of->levels; l++) {
        bool top = l + 1 == of->levels;
        of->down[l] = (uint32_t)(!l ? leaf : top ? radix : radix / 2);
        of->up[l] = (uint32_t)(!l ? 1 : l == 1 ? radix - leaf : radix / 2);
    }
    return true;
}

static bool of_lists(tree_t *of, const sw_network_words_t *words)
{
    int ups;
    if (sw_network_has(words, "radix") || sw_network_has(words, "levels") ||
        sw_network_has(words, "nodes_per_leaf"))
        return sw_network_fail(words, "a fat tree has down and up, or radix, "
                                      "levels and nodes_per_leaf, not both");
    if (!sw_network_list(words, "down", of->down, &of->levels) ||
        !sw_network_list(words, "up", of->up, &ups))
        return false;
    return (ups && ups == of->levels) ||
           sw_network_fail(words, "down and up must have as many numbers, one "
                                  "for each level");
}

static bool make(sw_network_t *network, const sw_network_words_t *words)
{
    tree_t *of = network->of = calloc(1, sizeof *of);
    sw_ps_t latency, host_latency;
    double byte, host_byte;
    if (!of)
        return sw_network_fail(words, "there is no memory for the network");
    if (!(sw_network_has(words, "down") || sw_network_has(words, "up")
              ? of_lists(of, words)
              : of_radix(of, network->room, words)) ||
        !sw_network_time(words, "latency", 0, &latency) ||
        !sw_network_rate(words, "G", 0, &byte) ||
        !sw_network_time(words, "host_latency", latency, &host_latency) ||
        !sw_network_rate(words, "host_G", byte, &host_byte))
        return false;
    uint64_t below = 1; /* links that go up to level l, for each a[l]... */
    network->room = 1;
    for (int l = 0; l < of->levels; l++) {
        network->room *= of->down[l];
        if (network->room > UINT32_MAX)
            return sw_network_fail(words,
                                   "this fat tree has more than %u "
                                   "places, which is the most there can be",
                                   UINT32_MAX);
    }
    uint64_t above = network->room;
    for (int l = 0; l < of->levels; l++) {
        /* up[1..l] digits, and down[l..h] ones. */
        below *= of->up[l];
        if (below > UINT32_MAX || below * above > UINT32_MAX / 4 ||
            network->links + 2 * below * above >= UINT32_MAX)
            return sw_network_fail(words,
                                   "this fat tree has more than %u "
                                   "links, which is the most there can be",
                                   UINT32_MAX);
        of->base[l] = (uint32_t)network->links;
        of->count[l] = (uint32_t)(below * above);
        network->links += 2 * below * above;
        above /= of->down[l];
    }
    network->longest = 2 * (uint32_t)of->levels;
    sw_network_add_sort(network, 0, host_latency, host_byte);
    if (of->levels > 1)
        sw_network_add_sort(network, of->base[1], latency, byte);
    return true;
}

static uint32_t route(const sw_network_t *network, uint32_t from, uint32_t to,
                      uint64_t salt, uint32_t *links)
{
    const tree_t *of = network->of;
    /* As far as both have the same ancestor: `top` levels. */
    int top = 0;
    uint32_t a = from, b = to;
    do {
        a /= of->down[top];
        b /= of->down[top];
        top++;
    } while (a != b && top < of->levels);
    /* A link is (a[h] .. a[l], b[l] .. b[1]): up with the sender's digits a,
     * down with the target's. `chosen` are the digits b. */
    uint32_t chosen = 0, ways = 1, mine = from, its = to;
    for (int l = 0; l < top; l++) {
        chosen += to / ways % of->up[l] * ways;
        ways *= of->up[l];
        links[l] = of->base[l] + mine * ways + chosen;
        links[2 * top - 1 - l] = of->base[l] + of->count[l] + its * ways +
                                 chosen;
        mine /= of->down[l];
        its /= of->down[l];
    }
    return 2 * (uint32_t)top;
}

const sw_network_kind_t sw_network_fat_tree = {"fat_tree", keys, make, route};
