/*
 * joint.c - see joint.h.
 */
#include "joint.h"

#include "move.h"
#include "../node/arena.h"
#include "../node/settings.h"
#include "../node/wait.h"

#include <errno.h>

#define PIECE_MIN ((size_t)16 << 10)
#define PIECE_MAX ((size_t)128 << 10)
#define PIECES 16u

static uint64_t pieces_of(const sw_joint_t *joint)
{
    return (joint->bytes + joint->piece - 1) / joint->piece;
}

bool sw_joint_open(sw_joint_t *joint, const void *to, size_t bytes)
{
    if (bytes < sw_settings.p2p_joint || sw_wait_crowded())
        return false;
    uint64_t at = sw_arena_offset(to, bytes);
    if (at == UINT64_MAX)
        return false;
    size_t piece = sw_round_up(bytes / PIECES, SW_PAGE);
    joint->to = at;
    joint->bytes = bytes;
    joint->piece = sw_min(sw_max(piece, PIECE_MIN), PIECE_MAX);
    atomic_store_explicit(&joint->pushed, 0, memory_order_relaxed);
    atomic_store_explicit(&joint->ends, pieces_of(joint),
                          memory_order_relaxed);
    return true;
}

/* Claim a piece from the beginning or from the end; false: none is left. */
static bool claim(sw_joint_t *joint, bool first, uint64_t *piece)
{
    uint64_t ends = atomic_load_explicit(&joint->ends, memory_order_relaxed);
    while (true) {
        uint64_t low = ends >> 32, high = ends & UINT32_MAX;
        if (low == high)
            return false;
        *piece = first ? low : high - 1;
        uint64_t next = first ? (low + 1) << 32 | high
                              : low << 32 | (high - 1);
        if (atomic_compare_exchange_weak_explicit(
                &joint->ends, &ends, next, memory_order_relaxed,
                memory_order_relaxed))
            return true;
    }
}

static size_t length(const sw_joint_t *joint, uint64_t piece)
{
    return sw_min(joint->piece, joint->bytes - piece * joint->piece);
}

int sw_joint_pull(sw_joint_t *joint, const sw_peer_t *sender,
                  const sw_part_t *from, char *to)
{
    uint64_t piece, mine = 0;
    int rc = 0, error = 0;
    while (claim(joint, true, &piece)) {
        uint64_t at = piece * joint->piece;
        if (sw_move_from(sender, from, at, to + at, length(joint, piece),
                         joint->bytes)) {
            rc = -1;
            error = errno;
        }
        mine++;
    }
    uint64_t theirs = pieces_of(joint) - mine;
    unsigned turns = 0;
    while (atomic_load_explicit(&joint->pushed, memory_order_acquire) !=
           theirs)
        sw_wait_turn(&turns);
    errno = error;
    return rc;
}

void sw_joint_push(sw_joint_t *joint, const sw_peer_t *receiver,
                   const char *data)
{
    uint64_t piece;
    while (claim(joint, false, &piece)) {
        uint64_t at = piece * joint->piece;
        sw_move(receiver->arena + joint->to + at, data + at,
                length(joint, piece), joint->bytes);
        atomic_fetch_add_explicit(&joint->pushed, 1, memory_order_release);
    }
}
