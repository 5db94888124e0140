/*
 * near.h - communicators whose messages we match ourselves.
 *
 * All members of such a communicator sit on this node, and each reaches the
 * arena and the mailbox of each. The communicator has a name (context_id.c). All
 * that is known alike on all members, so all answer alike and without a word.
 * Messages of any other communicator are the host's.
 *
 * Where the host goes on after a rank has died (mpi/base/failure.h) there are no
 * near communicators: no wait here tells of a death.
 *
 * On a near communicator every message is ours, whatever its length, type or
 * buffer: two matchers cannot keep MPI's order between them. A call whose
 * arguments are wrong goes to the host, which raises its error and sends
 * nothing.
 */
#ifndef SW_MPI_P2P_NEAR_H
#define SW_MPI_P2P_NEAR_H

#include "match/matcher.h"
#include "mpi/base/buffer.h"
#include "mpi/base/comm.h"
#include "mpi/base/world.h"
#include "mpi/request/track.h"

/* Are there near communicators at all? Constant after MPI_Init, unless a
 * benchmark wants the host alone (node/control.h). */
extern bool sw_near_on __attribute__((visibility("hidden")));
extern bool sw_near_there __attribute__((visibility("hidden")));

/* The largest tag that the host allows. */
extern int sw_near_tag_max __attribute__((visibility("hidden")));

/* Turns of a wait before it looks at the clock. */
extern int sw_near_spins __attribute__((visibility("hidden")));

/* After the handshake of MPI_Init: true where there may be near communicators.
 * And at the end. */
bool sw_near_start(void);
void sw_near_stop(void);

bool sw_near_decide(sw_comm_t *c);

/* The state of a near communicator; NULL: its messages are the host's. */
static inline sw_comm_t *sw_near(MPI_Comm comm)
{
    if (!sw_near_on)
        return NULL;
    sw_comm_t *c = sw_registry_cached(sw_comm_cache, SW_COMMS_CACHED,
                                      (uintptr_t)comm);
    if (sw_unlikely(!c) && !(c = sw_comm_state(comm)))
        return NULL;
    if (sw_likely(c->near))
        return c->near > 0 ? c : NULL;
    return sw_near_decide(c) ? c : NULL;
}

/* Cells in the mailbox of the rank at a place; NULL: there is no place now. */
sw_cell_t *sw_near_reserve(sw_mailbox_out_t **out, int place, size_t bytes);

/* The place of a member on the node. */
static inline int sw_near_place(const sw_comm_t *c, int member)
{
    return sw_world_place(c->members->rank[member]);
}

/* A message or a receive as the program describes it. */
typedef struct {
    sw_comm_t *comm;
    const sw_datatype_t *type;
    void *buffer;
    int64_t count;
    size_t bytes;               /* of data                                  */
    int partner, tag;
} sw_near_t;

/* A processor hands a value from a store to a load that is no wider. For a wider
 * load it waits until both stores, and all before them, have reached the cache:
 * here those of the message before, whose lines come from another core. So a
 * description that was just written is read field by field. */
#define SW_NEAR_FIELD(x)                                                \
    __extension__({                                                     \
        __auto_type field_ = (x);                                       \
        __asm__("" : "+r"(field_));                                     \
        field_;                                                         \
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

/* Is the description right? False: the host is to judge, or has raised its
 * error already, and *result is that. */
static inline bool sw_near_describe(sw_near_t *to, sw_comm_t *c, MPI_Comm comm,
                                    const void *buffer, int64_t count,
                                    MPI_Datatype type, int partner, int tag,
                                    int any, int *result)
{
    *to = (sw_near_t){.comm = c, .buffer = (void *)(uintptr_t)buffer,
                      .count = count, .partner = partner, .tag = tag};
    *result = MPI_SUCCESS;
    if (sw_unlikely((unsigned)partner >= (unsigned)c->n && partner != any) ||
        sw_unlikely((unsigned)tag > (unsigned)sw_near_tag_max && tag != any))
        return false;
    if (!sw_usable(buffer, count, type, comm, &to->type, result))
        return false;
    to->bytes = (size_t)count * to->type->size;
    return true;
}

/* MPI_ANY_SOURCE and MPI_ANY_TAG differ under some hosts: the caller turns
 * them into SW_PATTERN_ANY first. */
#define SW_NEAR_NONE INT32_MIN

static inline int sw_near_source(int source)
{
    return source == MPI_ANY_SOURCE ? SW_PATTERN_ANY
         : source == SW_PATTERN_ANY ? SW_NEAR_NONE : source;
}

static inline int sw_near_tag(int tag)
{
    return tag == MPI_ANY_TAG ? SW_PATTERN_ANY
         : tag == SW_PATTERN_ANY ? SW_NEAR_NONE : tag;
}

/* Take what has come, and go on with what is under way. `all`: see
 * sw_mailbox_turn. True: something has come. */
bool sw_near_turn(bool all);
/* The same in a wait for something else. */
void sw_near_progress(void);

/* A request of a near communicator's is active: other ranks may wait for what
 * this one does for it, so no call stays in the host meanwhile. */
void sw_near_enlist(sw_track_t *t);
/* The same of something that is no request of the program's any more: `by` more
 * of such are under way, or fewer. */
void sw_near_serve(int by);

/* Wait until *flag is set by a turn of this or another thread. */
void sw_near_await(const _Atomic bool *flag);

#endif
