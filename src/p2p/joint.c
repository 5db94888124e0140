/*
 * joint.c - see joint.h.
 */
#include "joint.h"

#include "move.h"
#include "node/base/settings.h"
#include "node/wait.h"

#include <errno.h>

/* A party claims half of what is left, up to so many bytes, and copies that
 * without a look at the other: each claim costs a cache line's way, and the
 * last ones are short, so that neither waits long for the other's. Scattered
 * bytes take longer. */
#define PIECES 64u
#define PIECE_MIN ((size_t)8 << 10)
#define PIECE_MIN_SCATTERED ((size_t)4 << 10)
#define CLAIM_MAX ((size_t)128 << 10)
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
    joint->piece = sw_min(
        sw_max(piece, scattered ? PIECE_MIN_SCATTERED : PIECE_MIN), CLAIM_MAX);
    atomic_store_explicit(&joint->pushed, 0, memory_order_relaxed);
    atomic_store_explicit(&joint->ends, pieces_of(joint), memory_order_relaxed);
    return true;
}

static bool left(const sw_joint_t *joint)
{
    uint64_t ends = atomic_load_explicit(
        &((sw_joint_t *)(uintptr_t)joint)->ends, memory_order_relaxed);
    return ends >> 32 != (ends & UINT32_MAX);
}

/* Claim pieces from the beginning or from the end: how many, 0 if none is
 * left, and the first of them. */
static uint64_t claim(sw_joint_t *joint, bool first, uint64_t *piece)
{
    uint64_t most = CLAIM_MAX / joint->piece;
    uint64_t ends = atomic_load_explicit(&joint->ends, memory_order_relaxed);
    while (true) {
        uint64_t low = ends >> 32, high = ends & UINT32_MAX;
        sw_assert(low <= high && high <= pieces_of(joint));
        if (low == high)
            return 0;
        uint64_t n = sw_min((high - low + 1) / 2, most);
        *piece = first ? low : high - n;
        uint64_t next = first ? (low + n) << 32 | high : low << 32 | (high - n);
        if (atomic_compare_exchange_weak_explicit(&joint->ends, &ends, next,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
            return n;
    }
}

static void copy(const sw_joint_t *joint, uint64_t piece, uint64_t n,
                 const sw_data_t *from, const sw_data_t *to)
{
    size_t at = piece * joint->piece, end = at + n * joint->piece;
    sw_move(from, to, at, sw_min(end, joint->bytes), joint->bytes);
}

int sw_joint_pull(sw_joint_t *joint, const sw_peer_t *sender,
                  const sw_data_t *from, const sw_data_t *to)
{
    uint64_t piece, n, mine = 0;
    for (; (n = claim(joint, true, &piece)) > 0; mine += n)
        copy(joint, piece, n, from, to);
    uint64_t theirs = pieces_of(joint) - mine;
    unsigned turns = 0;
    while (atomic_load_explicit(&joint->pushed, memory_order_acquire) != theirs)
        if (sw_peer_turn(sender, &turns)) {
            errno = ESRCH;
            return -1;
        }
    sw_data_fetch(to, mine * joint->piece, joint->bytes);
    return 0;
}

void sw_joint_push(sw_joint_t *joint, const sw_peer_t *receiver,
                   const sw_data_t *from)
{
    uint64_t piece, n;
    sw_data_t to;
    if (!left(joint) || sw_data_find(receiver, &joint->to, joint->bytes, &to))
        return;
    while ((n = claim(joint, false, &piece)) > 0) {
        copy(joint, piece, n, from, &to);
        atomic_fetch_add_explicit(&joint->pushed, n, memory_order_release);
    }
    sw_data_done(&to);
}
