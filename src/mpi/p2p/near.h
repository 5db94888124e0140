/*
 * near.h - ranks between which we match messages ourselves.
 *
 * Two ranks are near each other if they sit on one node, and each reaches the
 * arena and the mailbox of all ranks there. Since MPI_Init every rank of the
 * node knows which ranks are near. On a communicator that has a name
 * (context_id.c) each message between near members is ours, whatever its
 * length, type or buffer: two matchers cannot keep MPI's order between them.
 * Every other message is the host's. So sender and receiver decide alike,
 * without a message.
 *
 * Where only some members are near, a receive from any source may get a message
 * of either matcher (either.h).
 *
 * Where the host goes on after a rank has died (mpi/base/failure.h) no ranks
 * are near: no wait here tells of a death.
 *
 * A call whose arguments are wrong goes to the host, which raises its error and
 * sends nothing.
 */
#ifndef SW_MPI_P2P_NEAR_H
#define SW_MPI_P2P_NEAR_H

#include "match/matcher.h"
#include "mpi/base/buffer.h"
#include "mpi/base/comm.h"
#include "mpi/base/roster.h"
#include "mpi/request/shadow.h"

/* Are there near ranks at all? Constant after MPI_Init, unless a benchmark
 * wants the host alone (node/control.h). */
extern bool sw_near_on __attribute__((visibility("hidden")));
extern bool sw_near_there __attribute__((visibility("hidden")));

/* The largest tag that the host allows. */
extern int sw_near_tag_max __attribute__((visibility("hidden")));

/* Turns of a wait before it looks at the clock. */
extern int sw_near_spins __attribute__((visibility("hidden")));

/* After the handshake of MPI_Init: true where this rank is near others. And at
 * the end. */
bool sw_near_start(void);
void sw_near_stop(void);

/* By place on the node: is the rank near this one? */
extern bool *sw_near_at __attribute__((visibility("hidden")));

/* How many of the other members of a communicator are near. */
enum { SW_NEAR_UNASKED, SW_NEAR_ALL, SW_NEAR_SOME, SW_NEAR_NO = -1 };

bool sw_near_decide(sw_comm_t *c);

/* Acceleration is off, and the host gets a message: none of ours may be under
 * way, for the two matchers do not keep each other's order (node/control.h). */
bool sw_near_is_still(void);

/* The state of a communicator with near members; NULL: its messages are the
 * host's. */
static inline sw_comm_t *sw_near(MPI_Comm comm)
{
    if (!sw_near_on) {
        sw_assert(sw_near_is_still());
        return NULL;
    }
    sw_comm_t *c = sw_registry_cached(sw_comm_cache, SW_COMMS_CACHED,
                                      (uintptr_t)comm);
    if (sw_unlikely(!c) && !(c = sw_comm_state(comm)))
        return NULL;
    if (sw_likely(c->near != SW_NEAR_UNASKED))
        return c->near > 0 ? c : NULL;
    return sw_near_decide(c) ? c : NULL;
}

/* Cells in the mailbox of the rank at a place; NULL: there is no place now. */
sw_cell_t *sw_near_reserve(sw_mailbox_out_t **out, int place, size_t bytes);

/* The place of a member on the node; negative: it is elsewhere. */
static inline int sw_near_place(const sw_comm_t *c, int member)
{
    return sw_roster_place(c->members->rank[member]);
}

static inline bool sw_near_is(const sw_comm_t *c, int member)
{
    int place = sw_near_place(c, member);
    return place >= 0 && sw_near_at[place];
}

/* A message or a receive as the program describes it. */
typedef struct {
    sw_comm_t *comm;
    const sw_datatype_t *type;
    void *buffer;
    int64_t count;
    size_t bytes; /* of data */
    int partner, tag;
} sw_near_t;

/* A processor hands a value from a store to a load that is no wider. For a
 * wider load it waits until both stores, and all before them, have reached the
 * cache: here those of the message before, whose lines come from another core.
 * So a description that was just written is read field by field. */
#define SW_NEAR_FIELD(x)            \
    __extension__({                 \
        __auto_type field_ = (x);   \
        __asm__("" : "+r"(field_)); \
        field_;                     \
    })

static inline void sw_near_copy(sw_near_t *to, const sw_near_t *from)
{
    to->comm = SW_NEAR_FIELD(from->comm);
    to->type = SW_NEAR_FIELD(from->type);
    to->buffer = SW_NEAR_FIELD(from->buffer);
    to->count = SW_NEAR_FIELD(from->count);
    to->bytes = SW_NEAR_FIELD(from->bytes);
    to->partner = SW_NEAR_FIELD(from->partner);
    to->tag = SW_NEAR_FIELD(from->tag);
}

/* Is the description right, and is the partner near, or any? False: the host is
 * to judge, or has raised its error already, and *result is that. */
static inline bool sw_near_describe(sw_near_t *to, sw_comm_t *c, MPI_Comm comm,
                                    const void *buffer, int64_t count,
                                    MPI_Datatype type, int partner, int tag,
                                    int any, int *result)
{
    *to = (sw_near_t){.comm = c,
                      .buffer = (void *)(uintptr_t)buffer,
                      .count = count,
                      .partner = partner,
                      .tag = tag};
    *result = MPI_SUCCESS;
    if (sw_unlikely((unsigned)partner >= (unsigned)c->n && partner != any) ||
        sw_unlikely((unsigned)tag > (unsigned)sw_near_tag_max && tag != any))
        return false;
    if (sw_unlikely(c->near == SW_NEAR_SOME) && partner >= 0 &&
        !sw_near_is(c, partner))
        return false;
    if (!sw_buffer_usable(buffer, count, type, comm, &to->type, result))
        return false;
    to->bytes = (size_t)count * to->type->size;
    return true;
}

/* MPI_ANY_SOURCE and MPI_ANY_TAG differ under some hosts: the caller turns
 * them into SW_PATTERN_ANY first. */
#define SW_NEAR_NONE INT32_MIN

static inline int sw_near_source(int source)
{
    return source == MPI_ANY_SOURCE   ? SW_PATTERN_ANY
           : source == SW_PATTERN_ANY ? SW_NEAR_NONE
                                      : source;
}

static inline int sw_near_tag(int tag)
{
    return tag == MPI_ANY_TAG      ? SW_PATTERN_ANY
           : tag == SW_PATTERN_ANY ? SW_NEAR_NONE
                                   : tag;
}

/* Take what has come, and go on with what is under way. `all`: see
 * sw_mailbox_turn. True: something has come. */
bool sw_near_turn(bool all);
/* The same in a wait for something else. */
void sw_near_progress(void);

/* Something is under way that is no request of the program's any more, and for
 * which other ranks may wait: `by` more, or fewer. */
void sw_near_serve(int by);

/* Wait until *flag is set by a turn of this or another thread. */
void sw_near_await(const _Atomic bool *flag);

#endif
