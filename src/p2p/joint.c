/*
 * joint.c - see joint.h.
 */
#include "joint.h"

#include "move.h"
#include "../node/settings.h"
#include "../node/wait.h"

#include <errno.h>

/* Bytes that one party copies without a look at the other. Scattered ones take
 * longer. */
#define PIECES 16u
#define PIECE_MIN ((size_t)16 << 10)
#define PIECE_MIN_SCATTERED ((size_t)4 << 10)
#define PIECE_MAX ((size_t)128 << 10)
#define SCATTERED 4u

/* Short pieces that lie in the receiver's cache are its own affair; of so many
 * bytes they do not. */
#define FINE ((size_t)256 << 10)

static uint64_t pieces_of(const sw_joint_t *joint)
{
    return (joint->bytes + joint->piece - 1) / joint->piece;
}

bool sw_joint_open(sw_joint_t *joint, const sw_data_t *from,
                   const sw_data_t *to, size_t bytes)
{
    bool scattered = from->layout || to->layout;
    size_t least = sw_settings.p2p_joint / (scattered ? SCATTERED : 1);
    if (bytes < least || sw_wait_crowded() ||
        (!sw_data_is_coarse(to->layout) && bytes < FINE) ||
        !sw_data_show(to, bytes, &joint->to))
        return false;
    size_t piece = sw_round_up(bytes / PIECES, SW_PAGE);
    joint->bytes = bytes;
    joint->piece = sw_min(sw_max(piece, scattered ? PIECE_MIN_SCATTERED
                                                  : PIECE_MIN), PIECE_MAX);
    atomic_store_explicit(&joint->pushed, 0, memory_order_relaxed);
    atomic_store_explicit(&joint->ends, pieces_of(joint),
                          memory_order_relaxed);
    return true;
}

static bool left(const sw_joint_t *joint)
{
    uint64_t ends = atomic_load_explicit(
        &((sw_joint_t *)(uintptr_t)joint)->ends, memory_order_relaxed);
    return ends >> 32 != (ends & UINT32_MAX);
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

static void copy(const sw_joint_t *joint, uint64_t piece,
                 const sw_data_t *from, const sw_data_t *to)
{
    size_t at = piece * joint->piece;
    sw_move(from, to, at, sw_min(at + joint->piece, joint->bytes),
            joint->bytes);
}

int sw_joint_pull(sw_joint_t *joint, const sw_peer_t *sender,
                  const sw_data_t *from, const sw_data_t *to)
{
    uint64_t piece, mine = 0;
    for (; claim(joint, true, &piece); mine++)
        copy(joint, piece, from, to);
    uint64_t theirs = pieces_of(joint) - mine;
    unsigned turns = 0;
    while (atomic_load_explicit(&joint->pushed, memory_order_acquire) !=
           theirs)
        if (sw_peer_turn(sender, &turns)) {
            errno = ESRCH;
            return -1;
        }
    return 0;
}

void sw_joint_push(sw_joint_t *joint, const sw_peer_t *receiver,
                   const sw_data_t *from)
{
    uint64_t piece;
    sw_data_t to;
    if (!left(joint) || sw_data_find(receiver, &joint->to, joint->bytes, &to))
        return;
    while (claim(joint, false, &piece)) {
        copy(joint, piece, from, &to);
        atomic_fetch_add_explicit(&joint->pushed, 1, memory_order_release);
    }
    sw_data_done(&to);
}
