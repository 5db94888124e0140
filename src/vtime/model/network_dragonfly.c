/*
 * network_dragonfly.c - groups of routers, each with links to other groups.
 *
 *     network dragonfly groups N routers N hosts N global N [valiant SEED]
 *                       [latency NS] [G NS_A_BYTE]
 *                       [host_latency NS] [host_G NS_A_BYTE]
 *                       [global_latency NS] [global_G NS_A_BYTE]
 *
 * As Kim, Dally, Scott, Abts (2008): each group has `routers`, every two of
 * them linked; each router has `hosts` nodes and `global` links. The ports of
 * a group to others are numbered, those of its first router first. Port q of
 * group i leads to group i + 1 + q mod (groups - 1), counted round. So every
 * two groups have the same number of links between them; what is left over is
 * unused. Where two groups have several links, the target's number decides
 * which one a message takes.
 *
 * Without sizes it is a balanced one (routers = 2 hosts = 2 global), as small
 * as will do.
 *
 * The minimal route has at most one local link, one global, and one local
 * again. With `valiant` each message first goes to a group at random (neither
 * the sender's nor the target's). That spreads any load over all links, at the
 * price of routes twice as long. The latency of the model is that of the
 * minimal route in either case.
 *
 * Numbers: nodes to routers, routers to nodes; local links, each router's to
 * the others of its group; global links by group and port.
 */
#include "network_kind.h"

#include "words.h"

#include <stdlib.h>

static const char *const keys[] = {
    "groups",       "routers", "hosts",          "global",   "valiant",
    "host_latency", "host_G",  "global_latency", "global_G", NULL,
};

typedef struct {
    uint32_t groups, routers, hosts, global;
    uint32_t copies;     /* links between two groups */
    uint32_t local, far; /* the first local and the first global link */
    bool valiant;
    uint64_t seed;
} fly_t;

static const char *const names[] = {"groups", "routers", "hosts", "global"};

/* Balanced, with room for the nodes. */
static void balance(fly_t *of, uint64_t nodes)
{
    uint64_t h = 1;
    while (2 * h * h * (2 * h * h + 1) < nodes)
        h++;
    of->hosts = of->global = (uint32_t)h;
    of->routers = (uint32_t)(2 * h);
    of->groups = (uint32_t)((nodes + 2 * h * h - 1) / (2 * h * h));
}

static bool read_sizes(fly_t *of, const sw_network_words_t *words)
{
    uint32_t *values[] = {&of->groups, &of->routers, &of->hosts, &of->global};
    uint64_t value;
    for (int i = 0; i < 4; i++) {
        bool needed = i < 3 || of->groups > 1;
        if (needed && !sw_network_has(words, names[i]))
            return sw_network_fail(words,
                                   "a dragonfly needs groups, routers, "
                                   "hosts and global; %s is missing",
                                   names[i]);
        if (!sw_network_number(words, names[i], 0, needed, &value))
            return false;
        *values[i] = (uint32_t)value;
    }
    return true;
}

static bool sizes(fly_t *of, uint64_t nodes, const sw_network_words_t *words)
{
    bool given = false;
    for (int i = 0; i < 4; i++)
        given = given || sw_network_has(words, names[i]);
    if (!given)
        balance(of, nodes);
    else if (!read_sizes(of, words))
        return false;
    of->valiant = sw_network_has(words, "valiant");
    if (!sw_network_number(words, "valiant", 0, 0, &of->seed))
        return false;
    uint64_t ports = (uint64_t)of->routers * of->global;
    uint64_t others = of->groups - 1;
    if (others && ports < others)
        return sw_network_fail(words,
                               "a group has %llu links to others "
                               "(routers times global), and there are %llu "
                               "other groups; each needs one",
                               (unsigned long long)ports,
                               (unsigned long long)others);
    uint64_t copies = others ? ports / others : 0;
    of->copies = copies < UINT32_MAX ? (uint32_t)copies : UINT32_MAX;
    return true;
}

static bool make(sw_network_t *network, const sw_network_words_t *words)
{
    fly_t *of = network->of = calloc(1, sizeof *of);
    sw_ps_t latency, host_latency, global_latency;
    double byte, host_byte, global_byte;
    if (!of)
        return sw_network_fail(words, "there is no memory for the network");
    if (!sizes(of, network->room, words) ||
        !sw_network_time(words, "latency", 0, &latency) ||
        !sw_network_rate(words, "G", 0, &byte) ||
        !sw_network_time(words, "host_latency", latency, &host_latency) ||
        !sw_network_rate(words, "host_G", byte, &host_byte) ||
        !sw_network_time(words, "global_latency", latency, &global_latency) ||
        !sw_network_rate(words, "global_G", byte, &global_byte))
        return false;
    uint64_t most = UINT32_MAX, all = (uint64_t)of->groups * of->routers;
    if (all > most || all * of->hosts > most / 2 || all * of->routers > most ||
        all * of->global > most ||
        2 * all * of->hosts + all * of->routers + all * of->global >= most)
        return sw_network_fail(words,
                               "this dragonfly has more than %u links, "
                               "which is the most there can be",
                               UINT32_MAX);
    network->room = all * of->hosts;
    of->local = (uint32_t)(2 * network->room);
    of->far = of->local + (uint32_t)(all * of->routers);
    network->links = of->far + all * of->global;
    network->longest = 7;
    sw_network_add_sort(network, 0, host_latency, host_byte);
    sw_network_add_sort(network, of->local, latency, byte);
    sw_network_add_sort(network, of->far, global_latency, global_byte);
    return true;
}

/* From a router to another one of its group. A router's link to itself is a
 * number that is never used. */
static uint32_t local(const fly_t *of, uint32_t from, uint32_t to,
                      uint32_t *links)
{
    if (from == to)
        return 0;
    links[0] = of->local + from * of->routers + to % of->routers;
    return 1;
}

/* To any router of another group: *router is where one comes out. */
static uint32_t leave(const fly_t *of, uint32_t *router, uint32_t group,
                      uint32_t copy, uint32_t *links)
{
    uint32_t here = *router / of->routers, others = of->groups - 1;
    uint32_t ahead = group > here ? group - here : group + of->groups - here;
    uint32_t port = ahead - 1 + copy * others;
    uint32_t entry = others - ahead + copy * others; /* the same, there */
    uint32_t gate = here * of->routers + port / of->global;
    uint32_t count = local(of, *router, gate, links);
    links[count++] = of->far + here * of->routers * of->global + port;
    *router = group * of->routers + entry / of->global;
    return count;
}

static uint32_t route(const sw_network_t *network, uint32_t from, uint32_t to,
                      uint64_t salt, uint32_t *links)
{
    const fly_t *of = network->of;
    uint32_t router = from / of->hosts, end = to / of->hosts, count = 0;
    uint32_t group = router / of->routers, last = end / of->routers;
    links[count++] = from;
    if (group != last) {
        if (of->valiant && salt && of->groups > 2) {
            uint64_t chance = sw_words_mix(salt ^ sw_words_mix(of->seed));
            uint32_t low = group < last ? group : last;
            uint32_t high = group < last ? last : group;
            uint32_t by = (uint32_t)(chance % (of->groups - 2));
            by += by >= low;
            by += by >= high;
            uint32_t copy = (uint32_t)((chance >> 32) % of->copies);
            count += leave(of, &router, by, copy, links + count);
        }
        count += leave(of, &router, last, to % of->copies, links + count);
    }
    count += local(of, router, end, links + count);
    links[count++] = (uint32_t)network->room + to;
    return count;
}

const sw_network_kind_t sw_network_dragonfly = {
    "dragonfly",
    keys,
    make,
    route,
};
