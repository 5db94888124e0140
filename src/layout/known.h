/*
 * known.h - layouts of peers, remembered.
 *
 * The first message of a type brings the layout across: it is copied out of
 * the peer's arena and validated. By its serial it is known from then on.
 */
#ifndef SW_LAYOUT_KNOWN_H
#define SW_LAYOUT_KNOWN_H

#include "layout.h"
#include "node/peer.h"

/* The layout with this serial at this offset of the peer's arena; NULL with
 * errno: EBADMSG, it is none, or ENOMEM. To be given back. Thread safe. */
SW_API const sw_layout_t *sw_layout_known(const sw_peer_t *peer,
                                          uint64_t offset, uint64_t serial);
SW_API void sw_layout_done(const sw_layout_t *l);

/* For --stats: found, and copied. */
SW_API void sw_layout_counts(uint64_t *hits, uint64_t *misses);

#endif
