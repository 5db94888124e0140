/*
 * convert_trace.h - what the files of convert_trace*.c share:
 *
 *     convert_trace.c               the whole
 *     convert_trace_names.c         what the names say
 *     convert_trace_contexts.c      what communicators are
 *     convert_trace_fates.c         what became of receives: the first pass
 *     convert_trace_calls.c         each call as operations: the second pass
 *     convert_trace_collectives.c   collectives: the second pass
 *     convert_trace_windows.c       one-sided communication
 *     convert_trace_requests.c      requests
 *     convert_trace_line.c          the one line of a rank's threads
 */
#ifndef SW_VTIME_FORMATS_CONVERT_TRACE_H
#define SW_VTIME_FORMATS_CONVERT_TRACE_H

#include "convert.h"
#include "vtime/base/lookup.h"

#include "trace/names.h"
#include "trace/reader.h"

/* Kinds of calls, besides collectives. */
typedef enum {
    SW_TRACED_COMPUTE, /* its time is the program's */
    SW_TRACED_MESSAGE, /* its notes say what it does */
    SW_TRACED_SSEND,
    SW_TRACED_BSEND,
    SW_TRACED_GIVE,      /* a block that has changed hands */
    SW_TRACED_START,     /* of persistent requests */
    SW_TRACED_POLL,      /* a test or a probe */
    SW_TRACED_SOME,      /* waits for one of several */
    SW_TRACED_OTHER,     /* makes a communicator */
    SW_TRACED_NEAR,      /* a collective among neighbours */
    SW_TRACED_WINDOW,    /* makes one */
    SW_TRACED_ALLOCATED, /* the same, of the MPI's memory */
    SW_TRACED_FREE,
    SW_TRACED_FENCE,
    SW_TRACED_PUT,
    SW_TRACED_ACCUMULATE,
    SW_TRACED_GET,
    SW_TRACED_FETCH,
    SW_TRACED_FLUSH,
    SW_TRACED_FLUSH_LOCAL,
    SW_TRACED_LOCK,
    SW_TRACED_UNLOCK,
    SW_TRACED_POST,
    SW_TRACED_BEGIN, /* an access epoch */
    SW_TRACED_COMPLETE,
    SW_TRACED_EXPOSED,    /* waits for the exposure's end */
    SW_TRACED_COLLECTIVE, /* and above: sw_op_collective_t */
} sw_traced_kind_t;

/* All members meet, without data. */
static inline bool sw_traced_is_bare(sw_traced_kind_t kind)
{
    return kind >= SW_TRACED_OTHER && kind <= SW_TRACED_FENCE &&
           kind != SW_TRACED_NEAR;
}

/* What became of a posted receive, as a value of `fates`. */
#define SW_TRACED_CANCELLED UINT64_MAX

/* What a rank with several threads does at some time. */
typedef struct {
    uint64_t when, nth;
    sw_vop_t op; /* .kind 0: `busy` threads more compute from now on */
    int busy;
} sw_traced_item_t;

typedef struct {
    uint64_t end;    /* ticks: of its last call */
    uint64_t polled; /* 1 and the record of the last call, if a poll */
    bool begun;
} sw_traced_thread_t;

typedef struct {
    sw_rank_name_t *name;
    sw_traced_thread_t *threads;
    uint64_t cost; /* ticks of recording a call */
    uint32_t *free_requests, free_count, free_room, requests;
    uint32_t section;        /* of what was written last */
    uint64_t put, got;       /* bytes since the last fence: old traces */
    sw_ps_t computed;        /* and not yet written */
    sw_traced_item_t *items; /* several threads only */
    uint32_t item_count, item_room;
} sw_traced_rank_t;

/* Neighbours of a rank in a communicator: ranks of the world, -1: none;
 * those received from, and behind them those sent to. Their messages have a
 * context of their own. */
typedef struct {
    uint32_t context, ins, outs;
    int64_t *rank;
} sw_traced_near_t;

/* The two groups of a context between groups, one behind the other. */
typedef struct {
    uint32_t first, second; /* how many */
    uint32_t *members;
} sw_traced_groups_t;

typedef struct {
    sw_names_t *names;
    sw_op_writer_t *writer;
    sw_converted_t *done;
    sw_traced_rank_t *ranks; /* as names->ranks */
    uint32_t world;
    uint32_t *contexts; /* how many members; by number */
    uint32_t **members; /* [context_room] those; NULL: not kept */
    uint32_t context_count, context_room;
    sw_traced_near_t *near; /* by place */
    uint32_t near_count, near_room;
    sw_lookup_t near_places; /* (rank, communicator) -> place */
    sw_traced_groups_t *groups;
    uint32_t group_count, group_room;
    sw_lookup_t group_places; /* context -> place */
    /* (context, root) -> the context of the root and the other group, and 1 */
    sw_lookup_t rooted;
    sw_lookup_t windows; /* (context, number) -> its context, and 1 */
    sw_lookup_t made;    /* (rank, window) -> 1 */
    sw_lookup_t locks;   /* (rank, window, target) -> how */
    /* under way in the first pass: 1 wild, 2 apart, and the way in the other
     * bits */
    sw_lookup_t posted;
    sw_lookup_t fates;    /* receives whose posting does not tell it */
    sw_lookup_t ways;     /* messages received << 32 | sent */
    sw_lookup_t requests; /* under way -> the first operation of it */
    sw_lookup_t beside;   /* (rank, operation) -> the next of the same */
    unsigned char *kinds; /* by string */
    sw_sections_t sections;
    uint32_t file;
    bool memory; /* there was always some */
} sw_convert_trace_t;

/* A request of a rank, as a key of the tables. */
static inline uint64_t sw_traced_key(uint32_t rank, uint64_t request)
{
    return (uint64_t)rank << 40 ^ request;
}

static inline bool sw_traced_is_wild(const sw_trace_note_t *n)
{
    return n->peer == SW_PEER_ANY || n->tag == SW_PEER_ANY;
}

/* Does a posting wait in the match apart from others? */
static inline bool sw_traced_is_apart(const sw_trace_note_t *n,
                                      sw_traced_kind_t kind)
{
    return kind == SW_TRACED_START && !n->number && !sw_traced_is_wild(n);
}

/* Has it several threads? */
static inline bool sw_traced_several(const sw_traced_rank_t *rank)
{
    return rank->name->thread_count > 1;
}

/* Names: false where they are not right, or there is no memory. */
bool sw_traced_read_names(sw_convert_trace_t *c);
bool sw_traced_find_ranks(sw_convert_trace_t *c);

/* Contexts. The text behind "section ", "context ", "groups ", "near " of
 * the names. */
bool sw_traced_read_section(sw_convert_trace_t *c, const char *text);
bool sw_traced_read_context(sw_convert_trace_t *c, const char *text);
bool sw_traced_read_groups(sw_convert_trace_t *c, const char *text);
bool sw_traced_read_near(sw_convert_trace_t *c, const char *text);
/* The context of a communicator in a rank's list; false: not known. */
bool sw_traced_context(const sw_convert_trace_t *c,
                       const sw_traced_rank_t *rank, uint64_t communicator,
                       uint32_t *context);
/* NULL: it has none, or they are not known. */
const sw_traced_near_t *sw_traced_near(const sw_convert_trace_t *c,
                                       const sw_traced_rank_t *rank,
                                       uint64_t communicator);
/* NULL: it is not one between groups, or its groups are not known. */
const sw_traced_groups_t *sw_traced_groups(const sw_convert_trace_t *c,
                                           uint32_t context);
/* The context of a root, its first member, and of the group that is not its
 * own. False: the root is in neither group, or there is no memory. */
bool sw_traced_rooted(sw_convert_trace_t *c, uint32_t context, int64_t root,
                      uint32_t *rooted);
/* That of a communicator's window, by its number. False: the members are not
 * known, or there is no memory. */
bool sw_traced_window_context(sw_convert_trace_t *c,
                              const sw_traced_rank_t *rank,
                              uint64_t communicator, uint64_t window,
                              uint32_t *context);
void sw_traced_contexts_free(sw_convert_trace_t *c);

/* The first pass. */
void sw_traced_foresee(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                       const sw_trace_event_t *e, sw_traced_kind_t kind);
/* Has no rank received a send? Then none may wait for it: it was cancelled, or
 * the receiver's trace ends before. */
bool sw_traced_is_lost(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                       const sw_vop_t *op);

/* The second: a call of a thread, `first` being the one that began MPI. */
void sw_traced_call(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    sw_traced_thread_t *thread, bool first,
                    const sw_trace_event_t *e, const sw_call_name_t *name);

/* A collective, with its request if `starts` is not NULL; `means`: what the
 * trace says of it besides, or NULL; `root`: what the call says. */
void sw_traced_collective(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                          const sw_trace_event_t *e, sw_traced_kind_t kind,
                          uint64_t communicator, long root,
                          const sw_trace_note_t *means,
                          const sw_trace_note_t *starts);

/* A one-sided call. False: the trace does not tell the window. */
bool sw_traced_window(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                      const sw_trace_event_t *e, sw_traced_kind_t kind,
                      uint64_t communicator);

/* Requests of the trace: an operation, by its number, is one of those that a
 * request stands for. A wait takes those bound last first. */
void sw_traced_bind(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                    uint64_t request, uint32_t operation, bool sends);
/* It has ended; `found`: it need not have come first under another model. */
void sw_traced_ends(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    const sw_trace_event_t *e, bool found, uint64_t request);

/* The line. An operation at a time, in ticks. */
void sw_traced_emit(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    uint64_t when, const sw_vop_t *op);
/* The rank has computed from one time to another, in ticks. */
void sw_traced_compute(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                       uint64_t from, uint64_t to);
/* It is in this section from then on. */
void sw_traced_section(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                       uint64_t when, uint32_t section);
uint32_t sw_traced_request(sw_traced_rank_t *rank);
/* Its end, by a WAIT or a DROP; 0: there is nothing to wait for. */
void sw_traced_wait(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    uint64_t when, uint32_t request, sw_op_kind_t kind);
/* All that is left, behind the last call. */
void sw_traced_finish(sw_convert_trace_t *c, sw_traced_rank_t *rank);

#endif
