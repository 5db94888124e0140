/*
 * lend.h - members lend memory to one of them, the keeper, while it does
 * something that knows nothing of sequences: it lets the host send from there,
 * or receive into there.
 *
 * The keeper gets addresses. A block in its owner's arena it has mapped, so
 * no member copies it. Of other memory the keeper has a copy, which it writes
 * back in the end, if need be.
 *
 * Two forms. Members *hand in* a block each, and only the keeper need know how
 * large they are: small ones go as copies, and their members leave at once. A
 * member *lends* a list of places until the keeper has read or written them
 * all. Where the keeper alone knows that it will borrow, it *calls* first.
 *
 * Each is one step of the sequence (sequence.h), for all members of the team.
 * Between the beginning and the end of its step the keeper takes no other.
 *
 * A network may register what the keeper sends from or receives into. It then
 * holds the file's pages, and the owner cannot know how long. So a process
 * that has lent memory keeps its pages (sw_show_hold).
 */
#ifndef SW_COLL_LEND_H
#define SW_COLL_LEND_H

#include "coll.h"

typedef struct {
    char *at;       /* `bytes` bytes side by side */
    uint64_t bytes; /* of the block, or of the room for one */
    uint64_t came;  /* of the block that was written; may be more */
    void *copy;     /* the keeper's: `at` is in there, or NULL */
} sw_spot_t;

/* A member hands its block in. */
SW_API void sw_lend_block(sw_sequence_t *seq, int keeper, const sw_data_t *data,
                          size_t bytes);
/* The keeper finds the blocks of all, its own as well. `each`: it expects so
 * many bytes of all, and makes them so many; NULL: it expects nothing. */
SW_API int sw_lend_collect(sw_sequence_t *seq, const sw_data_t *own,
                           size_t bytes, const size_t *each, sw_spot_t *place);
SW_API void sw_lend_collect_end(sw_sequence_t *seq, sw_spot_t *place);

/* A member lends `count` places; `written`: the keeper writes them, and `came`
 * of each. A member with none has no part, and waits for nothing. */
SW_API void sw_lend(sw_sequence_t *seq, int keeper, sw_spot_t *place, int count,
                    bool written);

/* What the keeper has of one member's list. */
typedef struct {
    int owner;            /* the member */
    sw_part_t part;       /* the list, in its owner's memory */
    struct sw_lent *list; /* the keeper's copy; NULL: there is none */
    int count;
} sw_loan_t;

/* The keeper borrows from any members in one step. Where one of them fails,
 * its places have no bytes. */
SW_API void sw_loan_begin(sw_sequence_t *seq);
SW_API int sw_loan_take(sw_sequence_t *seq, int member, bool written,
                        sw_spot_t *place, int count, sw_loan_t *loan);
SW_API int sw_loan_return(sw_sequence_t *seq, bool written, sw_spot_t *place,
                          sw_loan_t *loan);
SW_API void sw_loan_end(sw_sequence_t *seq);

/* The keeper calls: the members lend in the step after this one. */
SW_API void sw_lend_call(sw_sequence_t *seq);
/* Has it called, in the next step? If not, it deals (deal.h). */
SW_API bool sw_lend_called(sw_sequence_t *seq, int keeper);

#endif
