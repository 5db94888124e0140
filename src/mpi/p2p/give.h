/*
 * give.h - what becomes of the calls of include/straightway_mpi.h: how many
 * went which way, for --stats.
 */
#ifndef SW_MPI_P2P_GIVE_H
#define SW_MPI_P2P_GIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calls: contract/flavour.h. */
int sw_give(void **block, size_t bytes, int dest, int tag, const void *comm);
int sw_take(void **block, size_t *bytes, int source, int tag, const void *comm,
            void *message, void *status);
int sw_give_take_matched(void **block, size_t *bytes, void *message,
                         void *status);
int sw_itake(void **block, int count, const void *type, int source, int tag,
             const void *comm, void *request);

/* The program gives blocks, or has posted a receive into one. */
extern _Atomic bool sw_given __attribute__((visibility("hidden")));

/* Why a block went by value. */
#define SW_GIVE_REASONS(X)        \
    X(FOREIGN, "of another heap") \
    X(SMALL, "small")             \
    X(ELSEWHERE, "to ranks out of reach, or with acceleration off")

enum {
#define X(id, text) SW_GIVE_##id,
    SW_GIVE_REASONS(X)
#undef X
        SW_GIVE_HANDED, /* given away, and not copied */
    SW_GIVE_TAKEN,      /* taken, and not copied */
    SW_GIVE_COUNTS
};

/* Of this rank, so far, where --stats asks for it. */
typedef struct {
    _Atomic int64_t calls, bytes;
} sw_give_counts_t;
extern sw_give_counts_t sw_give_counts[SW_GIVE_COUNTS]
    __attribute__((visibility("hidden")));

/* One more, of so many bytes. */
void sw_give_count(int what, size_t bytes);

#endif
