/*
 * p2p_calls.h - one end of a message: how it is begun, and what must be true
 * once it has ended.
 *
 * An end draws its own way to call: which procedure, which datatype, which
 * memory, how much room. Its `player` is the thread that plays its part of
 * the plan.
 */
#ifndef P2P_CALLS_H
#define P2P_CALLS_H

#include "p2p_plan.h"
#include <sched.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
#define HAVE_ISENDRECV 0 /* the oldest hosts never end one with no rank */
#elif HAVE_LARGE_COUNT || \
    (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION > 4)
#define HAVE_ISENDRECV 1
#else
#define HAVE_ISENDRECV 0
#endif

enum {
    SEND,
    SSEND,
    RSEND,
    BSEND,
    ISEND,
    ISSEND,
    IRSEND,
    IBSEND,
    SEND_INIT,
    SSEND_INIT,
    RSEND_INIT,
    BSEND_INIT,
    RECV,
    PROBE_RECV,
    IPROBE_RECV,
    MPROBE_MRECV,
    IMPROBE_MRECV,
    MPROBE_IMRECV,
    IMPROBE_IMRECV,
    IRECV,
    RECV_INIT,
    SENDRECV,
    REPLACE,
    ISENDRECV,
    IREPLACE,
    CANCELLED,
    GENERAL,
    MODES
};

static const char *const mode_names[MODES] = {"Send",
                                              "Ssend",
                                              "Rsend",
                                              "Bsend",
                                              "Isend",
                                              "Issend",
                                              "Irsend",
                                              "Ibsend",
                                              "Send_init",
                                              "Ssend_init",
                                              "Rsend_init",
                                              "Bsend_init",
                                              "Recv",
                                              "Probe Recv",
                                              "Iprobe Recv",
                                              "Mprobe Mrecv",
                                              "Improbe Mrecv",
                                              "Mprobe Imrecv",
                                              "Improbe Imrecv",
                                              "Irecv",
                                              "Recv_init",
                                              "Sendrecv",
                                              "Sendrecv_replace",
                                              "Isendrecv",
                                              "Isendrecv_replace",
                                              "cancelled Irecv",
                                              "generalized request"};

#define BUFFERED_MAX 65536 /* bytes of a buffered send */

typedef struct {
    int item, edge; /* a ring's edge i ends at its member i */
    int mode;
    bool sends, receives;
    bool large; /* the _c forms */
    bool active, begun, ended;
    bool persistent, let_go;
    MPI_Request request;
    buffer_t out, in; /* REPLACE: in alone */
    int dest, source, tag;
    bool any_source, any_tag;
    uint64_t out_key, in_key;
    size_t out_k, in_k;
    MPI_Status status;
    bool told;        /* the status is there */
    bool surely_told; /* whenever the program is run */
    char record[160]; /* for the log */
} op_t;

#define OPS_MAX (2 * ITEMS_MAX + 16)

typedef struct {
    int thread;
    circle_t circle[CIRCLES_MAX];
    int circles;
    MPI_Comm own; /* no other thread uses it */
    room_t rooms[2];
    rng_t r, ends; /* draws for beginnings and for ends */
    plan_t plan;
    op_t op[OPS_MAX];
    int ops, last_op; /* last_op: for messages */
    long alone;
    bool buffered; /* Bsend was used in this round */
    FILE *log;
} player_t;

/* Options. */
static uint64_t seed;
static size_t max_bytes = 1 << 20;
static bool trace;
static int thread_count = 1;

static _Thread_local const char *waiting = ""; /* the way of it */

static const char *describe(const player_t *y, const op_t *o)
{
    static _Thread_local char text[512];
    const item_t *m = o->item >= 0 ? &y->plan.item[o->item] : NULL;
    snprintf(text, sizeof text,
             "seed %llu thread %d round %ld (%s) item %d: %s%s on %s, to %d, "
             "from %d%s, tag %d%s, %s; out %zu of %s in memory %d, in %zu of "
             "%zu %s in memory %d%s",
             (unsigned long long)seed, y->thread, y->plan.index,
             shape_names[y->plan.shape], o->item, mode_names[o->mode],
             o->large ? "_c" : "", m ? m->circle->name : "-", o->dest,
             o->source, o->any_source ? " (any)" : "", o->tag,
             o->any_tag ? " (any)" : "", m ? m->element->name : "-", o->out_k,
             o->out.p ? o->out.layout.made_by : "-", o->out.kind, o->in_k,
             o->in.k, o->in.p ? o->in.layout.made_by : "-", o->in.kind,
             waiting);
    return text;
}

static void right(const player_t *y, const op_t *o, int rc)
{
    if (rc == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int n;
    MPI_Error_string(rc, text, &n);
    fail("%s\n  %s", text, describe(y, o));
}

#if HAVE_LARGE_COUNT
#define BOTH(name, ...) \
    right(y, o,         \
          o->large ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
#else
#define BOTH(name, ...) right(y, o, MPI_##name(__VA_ARGS__))
#endif

#define OUT o->out.user, out_n, o->out.layout.type, o->dest, o->tag
#define IN o->in.user, in_n, o->in.layout.type
#define FROM                                    \
    o->any_source ? MPI_ANY_SOURCE : o->source, \
        o->any_tag ? MPI_ANY_TAG : o->tag

static op_t *op_new(player_t *y, int item, int mode)
{
    CHECK(y->ops < OPS_MAX, "too many operations");
    op_t *o = &y->op[y->ops++];
    *o = (op_t){.item = item,
                .mode = mode,
                .request = MPI_REQUEST_NULL,
                .dest = MPI_PROC_NULL,
                .source = MPI_PROC_NULL};
    o->large = HAVE_LARGE_COUNT && rng_one_in(&y->r, 3);
    return o;
}

static MPI_Comm op_comm(const player_t *y, const op_t *o)
{
    return o->item >= 0 ? y->plan.item[o->item].circle->comm : y->own;
}

/* Elements that there is room for, when k may come. */
static size_t draw_room(rng_t *r, const element_t *e, size_t k)
{
    size_t more = 0;
    switch (rng_below(r, 6)) {
    case 0: more = 1 + rng_below(r, 8); break;
    case 1: more = rng_size(r, 2 * PREFIX) / e->packed; break;
    case 2:
        more = rng_size(r, rng_one_in(r, 4) ? 40000 : 4000) / e->packed;
        break;
    }
    return k + more;
}

static void op_sends(player_t *y, op_t *o, const item_t *m, int edge)
{
    o->sends = true;
    o->edge = edge;
    o->out_k = m->k;
    o->out_key = key2(m->key, (uint64_t)edge);
    o->out = buffer_make(&y->r, y->rooms, m->element, m->k, m->grain, true,
                         false, o->out_key);
}

static void op_receives(player_t *y, op_t *o, const item_t *m, int edge,
                        size_t most)
{
    static const int grains[] = {1, 1, 2, 3, 4, 6, 8, 12, 24, 64};
    o->receives = true;
    o->edge = edge;
    o->in_k = m->k;
    o->in_key = key2(m->key, (uint64_t)edge);
    size_t k = has("room") ? draw_room(&y->r, m->element, most) : most;
    int grain = m->grain;
    if (k > m->k)
        grain = grains[rng_below(&y->r, LENGTH(grains))];
    if (k % (size_t)grain)
        k += (size_t)grain - k % (size_t)grain;
    o->in = buffer_make(&y->r, y->rooms, m->element, k, grain, false, true, 0);
}

/* One buffer whose message goes and makes room for another. */
static void op_replaces(player_t *y, op_t *o, const item_t *m, int going,
                        int coming)
{
    o->sends = o->receives = true;
    o->edge = coming;
    o->out_k = o->in_k = m->k;
    o->out_key = key2(m->key, (uint64_t)going);
    o->in_key = key2(m->key, (uint64_t)coming);
    int grain = m->grain;
#ifndef OMPI_MAJOR_VERSION
    /* MPICH and its kin put other than dense bytes in the wrong place. */
    if (o->mode == IREPLACE)
        grain = 0;
#endif
    o->in = buffer_make(&y->r, y->rooms, m->element, m->k, grain, true, true,
                        o->out_key);
}

/* Chooses whether a receive leaves its source or its tag open. */
static void op_opens(player_t *y, op_t *o, const item_t *m)
{
    if (y->plan.shape == WILD) {
        o->any_source = o->any_tag = true;
    } else if (m->alone && has("anysource") && rng_one_in(&y->r, 3)) {
        o->any_source = true;
    } else if (y->plan.shape != PERSISTENT && !m->circle->crowded &&
               has("anytag") && rng_one_in(&y->r, 4)) {
        o->any_tag = true;
    }
}

static bool is_pair(const element_t *e)
{
    size_t n = strlen(e->name);
    return !strncmp(e->name, "MPI_2", 5) ||
           (n > 7 && !strcmp(e->name + n - 4, "_INT"));
}

/* The end of an operation ------------------------------------------------ */

static void op_check_status(player_t *y, op_t *o)
{
    const element_t *e = y->plan.item[o->item].element;
    MPI_Status *s = &o->status;
    int count = -1, elements = -1, cancelled = -1, bytes = -1, size = 0;
    MPI_Get_count(s, o->in.layout.type, &count);
    MPI_Get_elements(s, MPI_BYTE, &bytes);
    MPI_Type_size(e->type, &size);
#ifndef OMPI_MAJOR_VERSION
    if (!is_pair(e)) /* MPICH and its kin divide by zero */
#endif
        MPI_Get_elements(s, o->in.layout.type, &elements);
    MPI_Test_cancelled(s, &cancelled);
    /* The host decides the counts of types with padding. */
    int m = o->in.layout.m;
    if (o->source == MPI_PROC_NULL) {
        CHECK(s->MPI_SOURCE == MPI_PROC_NULL && s->MPI_TAG == MPI_ANY_TAG &&
                  count == 0,
              "from nobody: source %d, tag %d, count %d\n  %s", s->MPI_SOURCE,
              s->MPI_TAG, count, describe(y, o));
    } else {
        CHECK(s->MPI_SOURCE == o->source && s->MPI_TAG == o->tag,
              "received from %d with tag %d\n  %s", s->MPI_SOURCE, s->MPI_TAG,
              describe(y, o));
        int want = o->in_k % (size_t)m ? MPI_UNDEFINED : (int)o->in_k / m;
        CHECK(e->loose || count == want, "count %d, not %d\n  %s", count, want,
              describe(y, o));
        CHECK((size_t)bytes == o->in_k * (size_t)size, "%d bytes\n  %s", bytes,
              describe(y, o));
    }
    CHECK(cancelled == 0, "cancelled\n  %s", describe(y, o));
    size_t n = strlen(o->record);
    if (y->plan.shape == WILD) /* which buffer it came to is chance */
        snprintf(o->record, sizeof o->record,
                 "%ld.%d from %d tag %d "
                 "bytes %d",
                 y->plan.index, o->item, s->MPI_SOURCE, s->MPI_TAG, bytes);
    else if (o->surely_told)
        snprintf(o->record + n, sizeof o->record - n,
                 " from %d tag %d count %d elements %d bytes %d", s->MPI_SOURCE,
                 s->MPI_TAG, count, elements, bytes);
}

/* All that can be known of a message that has come or gone. */
static void op_check(player_t *y, op_t *o)
{
    ptrdiff_t at;
    if (o->sends && o->out.p) {
        at = buffer_wrong(&o->out, true, false, o->out_key, o->out_k, NULL);
        CHECK(at == NOTHING, "what was sent is changed at %td\n  %s", at,
              describe(y, o));
    }
    if (o->receives) {
        uint64_t h;
        bool came = o->source != MPI_PROC_NULL && o->mode != CANCELLED;
        bool replaces = o->mode == REPLACE || o->mode == IREPLACE;
        if (!came && replaces)
            at = buffer_wrong(&o->in, true, true, o->out_key, o->out_k, &h);
        else
            at = buffer_wrong(&o->in, came, true, o->in_key, o->in_k, &h);
        CHECK(at == NOTHING, "received wrong bytes at %td\n  %s", at,
              describe(y, o));
        snprintf(o->record, sizeof o->record, "%ld.%d %016llx", y->plan.index,
                 o->item, (unsigned long long)h);
        if (o->told && o->mode != CANCELLED)
            op_check_status(y, o);
    }
}

/* The operation has ended; `s` may be missing. */
static void op_ended(player_t *y, op_t *o, const MPI_Status *s)
{
    o->active = false;
    o->ended = true;
    o->told = s != NULL;
#ifndef OMPI_MAJOR_VERSION
    /* MPICH and its kin leave chance words in the status of these. */
    if (o->mode == ISENDRECV || o->mode == IREPLACE)
        o->told = false;
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    /* So does the oldest of them, for a receive from MPI_PROC_NULL. */
    if (o->mode == IRECV && o->source == MPI_PROC_NULL)
        o->told = false;
#endif
#endif
    if (s)
        o->status = *s;
    if (trace)
        fprintf(stderr, "[%d] ended %s\n", world_rank, describe(y, o));
    CHECK(o->persistent == (o->request != MPI_REQUEST_NULL),
          "the request is %snull after its end\n  %s",
          o->persistent ? "" : "not ", describe(y, o));
    if (o->mode == CANCELLED) {
        int cancelled = 0;
        MPI_Test_cancelled(&o->status, &cancelled);
        CHECK(s && cancelled, "not cancelled\n  %s", describe(y, o));
    }
    if (o->mode == GENERAL && s)
        CHECK(s->MPI_SOURCE == 77 && s->MPI_TAG == 78,
              "a generalized request's status: %d %d\n  %s", s->MPI_SOURCE,
              s->MPI_TAG, describe(y, o));
    if (y->plan.shape != WILD || !o->receives)
        op_check(y, o);
}

/* The beginning ---------------------------------------------------------- */

static bool persistent(int mode)
{
    return (mode >= SEND_INIT && mode <= BSEND_INIT) || mode == RECV_INIT;
}

/* Begin a send; a blocking one ends here. A persistent request is made but
 * not started. */
static void op_send(player_t *y, op_t *o)
{
    MPI_Comm comm = op_comm(y, o);
    int out_n = (int)(o->out_k / (size_t)o->out.layout.m);
    o->begun = true;
    if (trace)
        fprintf(stderr, "[%d] begins %s\n", world_rank, describe(y, o));
    switch (o->mode) {
    case SEND: BOTH(Send, OUT, comm); break;
    case SSEND: BOTH(Ssend, OUT, comm); break;
    case RSEND: BOTH(Rsend, OUT, comm); break;
    case BSEND: BOTH(Bsend, OUT, comm); break;
    case ISEND: BOTH(Isend, OUT, comm, &o->request); break;
    case ISSEND: BOTH(Issend, OUT, comm, &o->request); break;
    case IRSEND: BOTH(Irsend, OUT, comm, &o->request); break;
    case IBSEND: BOTH(Ibsend, OUT, comm, &o->request); break;
    case SEND_INIT: BOTH(Send_init, OUT, comm, &o->request); break;
    case SSEND_INIT: BOTH(Ssend_init, OUT, comm, &o->request); break;
    case RSEND_INIT: BOTH(Rsend_init, OUT, comm, &o->request); break;
    case BSEND_INIT: BOTH(Bsend_init, OUT, comm, &o->request); break;
    }
    if (o->mode == BSEND || o->mode == IBSEND || o->mode == BSEND_INIT)
        y->buffered = true;
    o->persistent = persistent(o->mode);
    if (o->mode <= BSEND)
        op_ended(y, o, NULL);
    else if (!o->persistent)
        o->active = true;
    if (o->let_go && o->active) {
        MPI_Request_free(&o->request);
        o->active = false; /* its buffer lives until the barrier */
    }
}

/* A probe: what it tells is what will come. Then exactly that is received. */
static void op_probed(player_t *y, op_t *o, const MPI_Status *s)
{
    int count = -1;
    MPI_Get_count(s, o->in.layout.type, &count);
    if (y->plan.shape == WILD) { /* any message */
        o->source = s->MPI_SOURCE;
        o->tag = s->MPI_TAG;
        o->any_source = o->any_tag = false;
        return;
    }
    int m = o->in.layout.m;
    int want = o->in_k % (size_t)m ? MPI_UNDEFINED : (int)o->in_k / m;
    CHECK(s->MPI_SOURCE == o->source && s->MPI_TAG == o->tag &&
              (count == want || y->plan.item[o->item].element->loose),
          "a probe tells of source %d, tag %d, count %d, not %d\n  %s",
          s->MPI_SOURCE, s->MPI_TAG, count, want, describe(y, o));
    if (rng_one_in(&y->r, 2))
        o->any_source = o->any_tag = false;
}

static void op_receive(player_t *y, op_t *o)
{
    MPI_Comm comm = op_comm(y, o);
    int in_n = (int)(o->in.k / (size_t)o->in.layout.m), flag = 0;
    bool wants = y->plan.shape == WILD || !rng_one_in(&y->r, 4);
    MPI_Status s, *sp = wants ? &s : MPI_STATUS_IGNORE;
    MPI_Message message;
    o->begun = o->surely_told = true;
    o->persistent = persistent(o->mode);
    if (trace)
        fprintf(stderr, "[%d] begins %s\n", world_rank, describe(y, o));
    switch (o->mode) {
    case IRECV: BOTH(Irecv, IN, FROM, comm, &o->request); break;
    case RECV_INIT: BOTH(Recv_init, IN, FROM, comm, &o->request); break;
    case PROBE_RECV:
        right(y, o, MPI_Probe(FROM, comm, &s));
        op_probed(y, o, &s);
        BOTH(Recv, IN, FROM, comm, sp);
        break;
    case IPROBE_RECV:
        while (right(y, o, MPI_Iprobe(FROM, comm, &flag, &s)), !flag)
            sched_yield();
        op_probed(y, o, &s);
        BOTH(Recv, IN, FROM, comm, sp);
        break;
    case MPROBE_MRECV:
    case MPROBE_IMRECV:
    case IMPROBE_MRECV:
    case IMPROBE_IMRECV:
        if (o->mode == MPROBE_MRECV || o->mode == MPROBE_IMRECV)
            right(y, o, MPI_Mprobe(FROM, comm, &message, &s));
        else
            while (right(y, o, MPI_Improbe(FROM, comm, &flag, &message, &s)),
                   !flag)
                sched_yield();
        op_probed(y, o, &s);
        if (o->mode == MPROBE_MRECV || o->mode == IMPROBE_MRECV)
            BOTH(Mrecv, IN, &message, sp);
        else
            BOTH(Imrecv, IN, &message, &o->request);
        CHECK(message == MPI_MESSAGE_NULL, "the message is not null\n  %s",
              describe(y, o));
        break;
    default: o->mode = RECV; BOTH(Recv, IN, FROM, comm, sp);
    }
    if (o->mode == MPROBE_IMRECV || o->mode == IMPROBE_IMRECV ||
        o->mode == IRECV)
        o->active = true;
    else if (!o->persistent)
        op_ended(y, o, wants ? &s : NULL);
    if (!o->ended)
        o->surely_told = false;
}

/* A member of a ring sends and receives at once. */
static void op_exchange(player_t *y, op_t *o)
{
    MPI_Comm comm = op_comm(y, o);
    int out_n = o->out.p ? (int)(o->out_k / (size_t)o->out.layout.m) : 0;
    int in_n = (int)(o->in.k / (size_t)o->in.layout.m);
    bool wants = !rng_one_in(&y->r, 4);
    MPI_Status s, *sp = wants ? &s : MPI_STATUS_IGNORE;
    o->begun = true;
    o->surely_told = o->mode == SENDRECV || o->mode == REPLACE;
    if (trace)
        fprintf(stderr, "[%d] begins %s\n", world_rank, describe(y, o));
    switch (o->mode) {
    case SENDRECV: BOTH(Sendrecv, OUT, IN, FROM, comm, sp); break;
    case REPLACE:
        BOTH(Sendrecv_replace, IN, o->dest, o->tag, FROM, comm, sp);
        break;
#if HAVE_ISENDRECV
    case ISENDRECV: BOTH(Isendrecv, OUT, IN, FROM, comm, &o->request); break;
    case IREPLACE:
        BOTH(Isendrecv_replace, IN, o->dest, o->tag, FROM, comm, &o->request);
        break;
#endif
    }
    if (o->mode == SENDRECV || o->mode == REPLACE)
        op_ended(y, o, wants ? &s : NULL);
    else
        o->active = true;
}

/* Start what is persistent, all at once or one by one. */
static void ops_start(player_t *y, op_t **list, int n)
{
    MPI_Request request[OPS_MAX];
    bool at_once = rng_one_in(&y->r, 2);
    for (int i = 0; i < n; i++) {
        op_t *o = list[i];
        o->active = true;
        request[i] = o->request;
        if (!at_once)
            right(y, o, MPI_Start(&o->request));
    }
    if (at_once && n > 0) {
        right(y, list[0], MPI_Startall(n, request));
        for (int i = 0; i < n; i++)
            list[i]->request = request[i];
    }
}

static void op_start(player_t *y, op_t *o)
{
    if (o->persistent)
        ops_start(y, &o, 1);
}

static void op_drop(op_t *o)
{
    if (o->persistent)
        MPI_Request_free(&o->request);
    if (o->out.p)
        buffer_drop(&o->out);
    if (o->in.p)
        buffer_drop(&o->in);
}

#endif
