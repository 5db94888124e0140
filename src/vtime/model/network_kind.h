/*
 * network_kind.h - what network.c and the kinds of networks share.
 *
 * A kind numbers its links, one for each direction of a cable, and says which
 * of them a message takes. Those of one sort (host links, local links, global
 * links) follow each other. All else is common: until when each link is busy,
 * and what a crossing costs.
 */
#ifndef SW_VTIME_MODEL_NETWORK_KIND_H
#define SW_VTIME_MODEL_NETWORK_KIND_H

#include "network.h"

enum { SW_NETWORK_SORTS = 4, SW_NETWORK_LIST = 8 };

/* The words of a network's line: KEY VALUE ... */
typedef struct {
    int words;
    char **word;
    char *why;
    size_t why_size;
} sw_network_words_t;

typedef struct {
    const char *name;
    const char *const *keys; /* up to NULL, besides latency and G */
    /* `room` is the number of nodes at first, for kinds of any size. Reads
     * the words, fills in `room`, `links`, `longest`, the sorts and `of`.
     * False: `why` has been written. */
    bool (*make)(sw_network_t *network, const sw_network_words_t *words);
    /* Writes the links of a route, at most `longest`, and returns how many.
     * `salt` differs from message to message, for what is random. */
    uint32_t (*route)(const sw_network_t *network, uint32_t from, uint32_t to,
                      uint64_t salt, uint32_t *links);
} sw_network_kind_t;

extern const sw_network_kind_t sw_network_crossbar, sw_network_fat_tree,
    sw_network_torus, sw_network_dragonfly;

/* Links from `first` on, up to the next sort's. */
typedef struct {
    uint32_t first;
    sw_ps_t latency; /* of the cable and the switch or adapter behind it */
    double byte;     /* ps */
} sw_network_sort_t;

struct sw_network {
    const sw_network_kind_t *kind;
    uint64_t room, links; /* nodes, links: 64 bits, to be checked */
    uint32_t longest;     /* links of a route */
    int sorts;
    sw_network_sort_t sort[SW_NETWORK_SORTS];
    sw_ps_t ends;
    sw_ps_t *busy;   /* by link: until when */
    uint32_t *route; /* scratch */
    void *of;        /* the kind's own */
};

/* Writes what is wrong into the words' `why`. Returns false. */
bool sw_network_fail(const sw_network_words_t *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The value of a key. Where it is missing: `otherwise`. */
bool sw_network_number(const sw_network_words_t *words, const char *key,
                       uint64_t otherwise, uint64_t least, uint64_t *value);
/* Times in ns and ns a byte, as ps. */
bool sw_network_time(const sw_network_words_t *words, const char *key,
                     sw_ps_t otherwise, sw_ps_t *value);
bool sw_network_rate(const sw_network_words_t *words, const char *key,
                     double otherwise, double *value);
/* Positive numbers like 8x8x4; *count is 0 where it is missing. */
bool sw_network_list(const sw_network_words_t *words, const char *key,
                     uint32_t *list, int *count);
bool sw_network_has(const sw_network_words_t *words, const char *key);

/* The next sort of links begins at link `first`. */
void sw_network_add_sort(sw_network_t *network, uint64_t first, sw_ps_t latency,
                         double byte);

#endif
