/*
 * move.h - a message's bytes on their way: through the caches or past them.
 */
#ifndef SW_P2P_MOVE_H
#define SW_P2P_MOVE_H

#include "../node/base.h"

/* Bytes from which messages are copied past the caches. */
SW_API size_t sw_move_streams_from(void);

/* Copy n bytes of a message that is `whole` bytes long. */
void sw_move(void *to, const void *from, size_t n, size_t whole);

#endif
