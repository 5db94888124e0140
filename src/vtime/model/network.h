/*
 * network.h - networks whose messages share links.
 *
 * A message occupies every link of its route for as long as its bytes take;
 * where another is on a link, it waits (virtual cut-through: the head goes on
 * as soon as a link is free, each hop adds its latency). The engine hands
 * messages in, in the order of the times at which they enter.
 *
 * One file each: network_crossbar.c, network_fat_tree.c, network_torus.c,
 * network_dragonfly.c. A network is made from the words of its line in a model
 * file.
 */
#ifndef SW_VTIME_MODEL_NETWORK_H
#define SW_VTIME_MODEL_NETWORK_H

#include "model.h"

/* From the words after `network`, word[0] being the kind, for so many nodes.
 * NULL: `why` says what is wrong. */
sw_network_t *sw_network_make(uint32_t nodes, int words, char **word, char *why,
                              size_t why_size);

/* What every message needs besides: the L of the model's link (the adapters
 * and the software at both ends). 0 at first. */
void sw_network_ends(sw_network_t *network, sw_ps_t latency);

/* When the last byte of a message that enters at `enters` arrives. Both nodes
 * are below the model's number of nodes, and differ. */
sw_ps_t sw_network_cross(sw_network_t *network, uint32_t from, uint32_t to,
                         uint64_t bytes, sw_ps_t enters);

/* The links between two nodes; at most `most` are written. Returns how many
 * there are. For tests and reports. */
uint32_t sw_network_route(const sw_network_t *network, uint32_t from,
                          uint32_t to, uint32_t *links, uint32_t most);

/* What a message needs where no other is in its way: until its first byte
 * arrives (with the ends' latency), and from then until its last. */
sw_ps_t sw_network_latency(const sw_network_t *network, uint32_t from,
                           uint32_t to);
sw_ps_t sw_network_transfer(const sw_network_t *network, uint64_t bytes);

/* Nodes that there is room for, and links (each in one direction). */
uint32_t sw_network_room(const sw_network_t *network);
uint32_t sw_network_links(const sw_network_t *network);
const char *sw_network_name(const sw_network_t *network);

/* As nothing had ever been sent. */
void sw_network_reset(sw_network_t *network);
void sw_network_free(sw_network_t *network);

#endif
