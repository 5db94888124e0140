/*
 * network.c - what all networks share: links that are busy, and crossing them.
 *
 * A message's head comes to a link, waits until the link is free, and comes to
 * the next one after the link's latency. The link is busy from then on for as
 * long as the message's bytes take on it. The tail follows the head at the pace
 * of the slowest link so far:
 *
 *     start(l) = max(head(l), busy(l))        busy(l)   := start(l) + s b(l)
 *     head(l + 1) = start(l) + latency(l)
 *     tail(l + 1) = max(start(l) + s b(l), tail(l)) + latency(l)
 *
 * All of it is settled when the message enters: of two messages the one that
 * enters first has all links first, even one that the other's head would have
 * come to before it. A switch has room for the messages that wait in it. So a
 * message that waits for one link does not hold those before it (virtual
 * cut-through: Kermani and Kleinrock 1979).
 */
#include "network_kind.h"

#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sw_network_kind_t *const kinds[] = {
    &sw_network_crossbar,
    &sw_network_fat_tree,
    &sw_network_torus,
    &sw_network_dragonfly,
};
static const char *const common_keys[] = {"latency", "G", NULL};

bool sw_network_fail(const sw_network_words_t *words, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(words->why, words->why_size, format, list);
    va_end(list);
    return false;
}

static const char *value_of(const sw_network_words_t *words, const char *key)
{
    for (int i = 0; i + 1 < words->words; i += 2)
        if (!strcmp(words->word[i], key))
            return words->word[i + 1];
    return NULL;
}

bool sw_network_has(const sw_network_words_t *words, const char *key)
{
    return value_of(words, key);
}

bool sw_network_number(const sw_network_words_t *words, const char *key,
                       uint64_t otherwise, uint64_t least, uint64_t *value)
{
    const char *word = value_of(words, key);
    *value = otherwise;
    if (!word)
        return true;
    if (sw_words_integer(word, value) && *value >= least &&
        *value <= UINT32_MAX)
        return true;
    return sw_network_fail(words,
                           "%s must be a whole number, at least %llu, "
                           "not %.60s",
                           key, (unsigned long long)least, word);
}

bool sw_network_time(const sw_network_words_t *words, const char *key,
                     sw_ps_t otherwise, sw_ps_t *value)
{
    const char *word = value_of(words, key);
    *value = otherwise;
    return !word || sw_words_time(word, value) ||
           sw_network_fail(words,
                           "%s must be a time in ns, at most %g, not "
                           "%.60s",
                           key, SW_WORDS_NS, word);
}

bool sw_network_rate(const sw_network_words_t *words, const char *key,
                     double otherwise, double *value)
{
    const char *word = value_of(words, key);
    *value = otherwise;
    return !word || sw_words_rate(word, value) ||
           sw_network_fail(words,
                           "%s must be ns a byte, at most %g, not "
                           "%.60s",
                           key, SW_WORDS_NS_A_BYTE, word);
}

bool sw_network_list(const sw_network_words_t *words, const char *key,
                     uint32_t *list, int *count)
{
    const char *word = value_of(words, key), *at = word;
    *count = 0;
    while (at) {
        char number[16];
        size_t length = strcspn(at, "x");
        uint64_t value = 0;
        if (length < sizeof number) {
            memcpy(number, at, length);
            number[length] = 0;
        }
        if (length >= sizeof number || !sw_words_integer(number, &value) ||
            !value || value > UINT32_MAX)
            return sw_network_fail(words,
                                   "%s must be numbers like 8x8x4, not "
                                   "%.60s",
                                   key, word);
        if (*count == SW_NETWORK_LIST)
            return sw_network_fail(words,
                                   "%s has more than %d numbers, which "
                                   "is the most there can be",
                                   key, SW_NETWORK_LIST);
        list[(*count)++] = (uint32_t)value;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

void sw_network_add_sort(sw_network_t *network, uint64_t first, sw_ps_t latency,
                         double byte)
{
    network->sort[network->sorts++] = (sw_network_sort_t){
        .first = (uint32_t)first, .latency = latency, .byte = byte};
}

/* Are the words keys and values, and known? */
static bool check_keys(const sw_network_kind_t *kind,
                       const sw_network_words_t *words)
{
    if (words->words % 2)
        return sw_network_fail(words, "%.60s has no value",
                               words->word[words->words - 1]);
    for (int i = 0; i < words->words; i += 2) {
        const char *word = words->word[i];
        bool known = false;
        char all[256] = "";
        const char *const *lists[] = {common_keys, kind->keys};
        for (int l = 0; l < 2; l++)
            for (const char *const *key = lists[l]; *key; key++) {
                known = known || !strcmp(*key, word);
                size_t used = strlen(all);
                snprintf(all + used, sizeof all - used, " %s", *key);
            }
        if (!known)
            return sw_network_fail(words,
                                   "network %s has no key %.60s; it "
                                   "has%s",
                                   kind->name, word, all);
        if (value_of(words, word) != words->word[i + 1])
            return sw_network_fail(words, "%s is given twice", word);
    }
    return true;
}

static bool make(sw_network_t *network, uint32_t nodes,
                 const sw_network_words_t *words)
{
    const char *name = network->kind->name;
    if (!check_keys(network->kind, words) ||
        !network->kind->make(network, words))
        return false;
    if (network->room < nodes)
        return sw_network_fail(words,
                               "this %s has places for %llu nodes, and "
                               "there are %u; make it larger, or put more "
                               "ranks on a node",
                               name, (unsigned long long)network->room, nodes);
    if (network->links >= UINT32_MAX)
        return sw_network_fail(words,
                               "this %s has too many links (at most %u "
                               "can be told apart); make it smaller",
                               name, UINT32_MAX);
    network->busy = calloc(network->links, sizeof *network->busy);
    network->route = calloc(network->longest, sizeof *network->route);
    if (!network->busy || !network->route)
        return sw_network_fail(words,
                               "there is no memory for the %llu links "
                               "of this %s",
                               (unsigned long long)network->links, name);
    return true;
}

sw_network_t *sw_network_make(uint32_t nodes, int words, char **word, char *why,
                              size_t why_size)
{
    sw_network_words_t rest = {words - 1, word + 1, why, why_size};
    size_t i = 0, count = sizeof kinds / sizeof *kinds;
    while (words > 0 && i < count && strcmp(word[0], kinds[i]->name))
        i++;
    if (words < 1 || i == count) {
        sw_network_fail(&rest,
                        "there is no network %.60s; there are crossbar, "
                        "fat_tree, torus and dragonfly",
                        words < 1 ? "without a name" : word[0]);
        return NULL;
    }
    sw_network_t *network = calloc(1, sizeof *network);
    if (!network) {
        sw_network_fail(&rest, "there is no memory for the network");
        return NULL;
    }
    network->kind = kinds[i];
    network->room = nodes; /* for kinds of any size */
    if (!make(network, nodes, &rest)) {
        sw_network_free(network);
        return NULL;
    }
    return network;
}

void sw_network_ends(sw_network_t *network, sw_ps_t latency)
{
    network->ends = latency;
}

static const sw_network_sort_t *sort_of(const sw_network_t *network,
                                        uint32_t link)
{
    int i = network->sorts - 1;
    while (i > 0 && link < network->sort[i].first)
        i--;
    return &network->sort[i];
}

sw_ps_t sw_network_cross(sw_network_t *network, uint32_t from, uint32_t to,
                         uint64_t bytes, sw_ps_t enters)
{
    /* The same message has the same salt, in whatever order it comes. */
    uint64_t salt = sw_words_mix((uint64_t)from << 32 | to) ^
                    sw_words_mix(bytes ^ sw_words_mix((uint64_t)enters));
    uint32_t *route = network->route;
    uint32_t hops = network->kind->route(network, from, to, salt, route);
    sw_ps_t taken[SW_NETWORK_SORTS];
    for (int i = 0; i < network->sorts; i++)
        taken[i] = sw_ps_of(network->sort[i].byte, bytes);
    sw_ps_t head = enters, tail = enters;
    for (uint32_t i = 0; i < hops; i++) {
        const sw_network_sort_t *sort = sort_of(network, route[i]);
        sw_ps_t *busy = &network->busy[route[i]];
        if (head < *busy)
            head = *busy;
        *busy = head + taken[sort - network->sort];
        if (tail < *busy)
            tail = *busy;
        head += sort->latency;
        tail += sort->latency;
    }
    return tail + network->ends;
}

uint32_t sw_network_route(const sw_network_t *network, uint32_t from,
                          uint32_t to, uint32_t *links, uint32_t most)
{
    uint32_t hops = network->kind->route(network, from, to, 0, network->route);
    for (uint32_t i = 0; i < hops && i < most; i++)
        links[i] = network->route[i];
    return hops;
}

sw_ps_t sw_network_latency(const sw_network_t *network, uint32_t from,
                           uint32_t to)
{
    uint32_t hops = network->kind->route(network, from, to, 0, network->route);
    sw_ps_t latency = network->ends;
    for (uint32_t i = 0; i < hops; i++)
        latency += sort_of(network, network->route[i])->latency;
    return latency;
}

sw_ps_t sw_network_transfer(const sw_network_t *network, uint64_t bytes)
{
    return sw_ps_of(network->sort[0].byte, bytes);
}

uint32_t sw_network_room(const sw_network_t *network)
{
    return network->room < UINT32_MAX ? (uint32_t)network->room : UINT32_MAX;
}

uint32_t sw_network_links(const sw_network_t *network)
{
    return (uint32_t)network->links;
}

const char *sw_network_name(const sw_network_t *network)
{
    return network->kind->name;
}

void sw_network_reset(sw_network_t *network)
{
    memset(network->busy, 0, network->links * sizeof *network->busy);
}

void sw_network_free(sw_network_t *network)
{
    if (!network)
        return;
    free(network->busy);
    free(network->route);
    free(network->of);
    free(network);
}
