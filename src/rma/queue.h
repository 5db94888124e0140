/*
 * queue.h - a lock with several kinds of holders: the first that comes is the
 * first that is served.
 *
 *   0   next (4)  serving (4)  state (4)  doorbell: event (4) sleepers (4)
 *
 * `state` counts the holders, each kind in bits of its own. A comer takes a
 * ticket (next), and waits until it is served. It then waits until no holder of
 * an incompatible kind is left, and adds itself to the state. The next ticket
 * is served then. So compatible comers hold the lock together.
 *
 * A holder may wait, by a message for instance, for a member that comes later.
 * So the member that is served does not wait for ever: after a while it lets
 * the next one pass, and queues again later, each time for twice as long.
 *
 * Memory order: a holder leaves by a release of `state`. A comer adds itself by
 * an acquire of it. So it sees all that the holders before it have written.
 */
#ifndef SW_RMA_QUEUE_H
#define SW_RMA_QUEUE_H

#include "node/wait.h"

typedef struct {
    _Alignas(SW_PAIR) _Atomic uint32_t next;
    _Atomic uint32_t serving;
    _Atomic uint32_t state;
    sw_doorbell_t doorbell;
} sw_queue_t;

/* Take a ticket and wait until it is served. False: lost. */
bool sw_queue_await(sw_queue_t *q);
/* Let the next one be served. */
void sw_queue_pass(sw_queue_t *q);

/* Is a member served, or does one wait for it? An answer of no acquires what
 * all have written that were served. Tickets are sequentially consistent: a
 * comer that this look has missed sees what this thread stored before
 * (update.h). */
static inline bool sw_queue_taken(sw_queue_t *q)
{
    uint32_t next = atomic_load(&q->next);
    return atomic_load_explicit(&q->serving, memory_order_acquire) != next;
}

/* Hold it as `kind`, once no bit of `others` is left in the state. One that
 * does not queue waits for these alone. False: lost. */
bool sw_queue_hold(sw_queue_t *q, uint32_t kind, uint32_t others, bool queues);
/* The same, for so many nanoseconds from when it is served. False: it does not
 * hold it; or lost, if that is set. */
bool sw_queue_hold_within(sw_queue_t *q, uint32_t kind, uint32_t others,
                          bool queues, uint64_t ns, bool *lost);
void sw_queue_leave(sw_queue_t *q, uint32_t kind);

#endif
