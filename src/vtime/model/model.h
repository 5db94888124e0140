/*
 * model.h - the assumed machine: how long messages, collectives and computing
 * take.
 *
 * Messages. The model is LogGOPS (Hoefler, Schneider, Lumsdaine, LogGOPSim,
 * 2010; after Alexandrov et al., LogGP, 1995, and Ino et al., LogGPS, 2001).
 * Every pair of ranks belongs to a class (the same rank, domain, node, or two
 * nodes), and every class has a link. A message of s bytes, sent at time t:
 *
 *     sender's processor busy until   c = t + o + O s
 *     it enters the wire at           i = max(c, out)    out := i + max(g, G s)
 *     its last byte arrives at        a = max(i + L, in) + G s
 *                                                        in := max(a, in + g)
 *     message and receive are there at  r = max(posted, a)
 *     the receive is complete at      max(r, hands) + o' + O' s   =: hands
 *
 * `hands` is when the receiver's processor is free. It receives one message
 * after the other, in the order of r, while its rank waits or tests in a call
 * (engine/message/receive.c). Waiting overlaps, receiving does not.
 * `out` and `in` are when the sender's and the receiver's ports are free: each
 * rank has its own within a node, each node one to the network. A send of at
 * most S bytes is eager: it is complete at c. A larger one, or a synchronous
 * one, waits for its receiver. The sender's request of no bytes goes ahead (as
 * above, with s = 0, but occupies no port). It meets the receive at m =
 * max(posted, t + o + L). The message's data enter the wire at max(c, m + o +
 * L, out); the send is complete when they have left, at i + G s. A blocking
 * send ends when it is complete. Where s stands, the literature often has
 * s - 1.
 *
 * `loggopsim` is the rule of LogGOPSim in place of this, where b = max(s-1, 0):
 *
 *     the send begins when the processor and its own last send's port are
 *     free, t; the port is busy until         t + g + G b
 *     sender's processor busy until           t + o + O b
 *     the message is at its receiver at       a = t + o + L
 *     the receive is complete at              max(a, hands) + o' + max(O', G) b
 *
 * So the receiver's processor takes in the bytes, no network does. A send of
 * more than S bytes is complete when that begins: there is no handshake.
 *
 * Hockney's model (1994) is a link with o = g = O = 0 and no S; `free` one
 * with nothing at all. Measured links have tables by size in place of
 * constants.
 *
 * Between nodes, a network (network.h) may stand for L and G, where messages
 * share links and wait for each other: a = what sw_network_cross says, with
 * the link's L in it. The costs below are then those without contention.
 *
 * Measured times depend on where the data are. Data that a program has computed
 * lie in the caches of its own core, changed, and those caches no longer hold
 * the library. Data that were only moved lie where the last call has left them.
 * So a model may have tables for more than one state: state k is reached by a
 * rank that has computed, since it last moved as much data (warmth.h), for
 *
 *     t(k) = after + after_byte s
 *
 * (a program that sends s bytes takes at least t(k) to write them). From state
 * 1 on, a rank between two states takes a time between theirs, by the logarithm
 * of the time that it has computed. Without such tables all is state 0.
 *
 * A block that is given away within a node has points of its own, and waits for
 * no receiver.
 *
 * One-sided calls take the times of accesses.h within a node, where a model has
 * those; else those of messages (engine/window/window.c).
 *
 * Collectives. A plan is made for each (plan.h): free, a formula, a measured
 * table, an algorithm of messages, offloaded to the network; scaled if asked.
 *
 * The reader of model_file.h fills all of these fields.
 */
#ifndef SW_VTIME_MODEL_MODEL_H
#define SW_VTIME_MODEL_MODEL_H

#include "accesses.h"

typedef enum {
    SW_CLASS_SELF,
    SW_CLASS_DOMAIN,
    SW_CLASS_NODE,
    SW_CLASS_NETWORK,
    SW_CLASS_COUNT
} sw_class_t;

/* A point of a measured link: a message of `bytes` costs this. Between points,
 * lines; below the first, as the first; above the last, its rate goes on. */
typedef struct {
    uint64_t bytes;
    /* in place of o + O s, L + G s, max(g, G s), o' + O' s */
    sw_ps_t send, wire, gap, receive;
} sw_link_point_t;

enum { SW_STATES = 4, SW_STATE_PARTS = 16 };

typedef struct {
    sw_ps_t after;
    double after_byte; /* ps a byte */
} sw_state_t;

typedef struct {
    sw_ps_t o_send, o_recv; /* o, o' */
    sw_ps_t L, g;
    double O_send, O_recv, G;           /* ps a byte */
    uint64_t S;                         /* bytes; UINT64_MAX: always eager */
    sw_link_point_t *points[SW_STATES]; /* [0] NULL: by the constants */
    uint32_t point_count[SW_STATES];
    /* of blocks that are given away, from the bytes of the first on */
    sw_link_point_t *given;
    uint32_t given_count;
} sw_model_link_t;

/* Where ranks are: node = rank / per_node, and within a node domain = place
 * there / per_domain (0: the node is one), unless `node` and `domain` have them
 * one by one. Ranks share a domain only where they share a node. */
typedef struct {
    uint32_t per_node, per_domain;
    uint32_t *node, *domain; /* by rank, or NULL */
} sw_model_places_t;

/* Every `period` on the average the system takes the processor away for
 * `duration` (noise.h). 0: never. */
typedef struct {
    sw_ps_t period, duration;
    uint64_t seed;
} sw_noise_t;

typedef struct sw_network sw_network_t;
typedef struct sw_rules sw_rules_t;

typedef struct {
    uint32_t ranks;
    sw_model_places_t places;
    sw_state_t states[SW_STATES];
    uint32_t state_count; /* at least 1: state 0 */
    sw_model_link_t links[SW_CLASS_COUNT];
    sw_accesses_t accesses;
    sw_network_t *network; /* NULL: messages do not share links */
    sw_noise_t noise;
    double cpu_speed;   /* computing takes time / cpu_speed, */
    double *node_speed; /* and / this, by node; NULL: 1 */
    double reduce;      /* ps a byte that is reduced */
    sw_ps_t test;       /* of a test or probe that finds nothing */
    bool loggopsim;     /* messages by LogGOPSim's rule */
    sw_rules_t *rules;  /* of collectives: plan.h */
    uint32_t later;     /* ... a bit for each to complete later */
} sw_model_t;

/* What a message costs, in the terms above. */
typedef struct {
    sw_ps_t send;     /* o + O s */
    sw_ps_t latency;  /* L */
    sw_ps_t transfer; /* G s */
    sw_ps_t gap;      /* max(g, G s) */
    sw_ps_t receive;  /* o' + O' s */
    sw_ps_t answer;   /* o + L: a request, or its answer */
    sw_ps_t taking;   /* loggopsim: o' + max(O', G) b */
    bool rendezvous;  /* more than S bytes */
    bool network;     /* through the ports of the nodes */
} sw_cost_t;

/* A model in which nothing takes time, of so many ranks on one node. */
void sw_model_init(sw_model_t *model, uint32_t ranks);
void sw_model_free(sw_model_t *model);

uint32_t sw_model_node(const sw_model_t *model, uint32_t rank);
uint32_t sw_model_nodes(const sw_model_t *model);
sw_class_t sw_model_class(const sw_model_t *model, uint32_t a, uint32_t b);
/* The state of a rank that has `computed` so long, for so many bytes; in
 * SW_STATE_PARTS from one to the next. */
uint32_t sw_model_state(const sw_model_t *model, sw_ps_t computed,
                        uint64_t bytes);
/* The two states between whose times it lies, where only some have times, a bit
 * of `there` each, and the first has: the nearest below it and the next one, or
 * the same twice. */
void sw_model_states(uint32_t state, uint32_t there, uint32_t *low,
                     uint32_t *high);
/* What lies so far between the times of a state and of the next. */
sw_ps_t sw_model_between(uint32_t state, sw_ps_t low, sw_ps_t high);
/* A state's number, from text; false: the model has no such state. */
bool sw_model_state_named(const sw_model_t *model, const char *text,
                          uint32_t *state);
/* Of a block that is given away; false: it is as any message. */
bool sw_model_given(const sw_model_t *model, uint32_t from, uint32_t to,
                    uint64_t bytes, sw_cost_t *cost);
/* Of a sender that has `computed` so long. */
void sw_model_message(const sw_model_t *model, uint32_t from, uint32_t to,
                      uint64_t bytes, sw_ps_t computed, sw_cost_t *cost);

#endif
