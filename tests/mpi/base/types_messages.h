/*
 * types_messages.h - a message between two ranks, each with a datatype of its
 * own of the same signature.
 *
 * All ranks draw what the messages are (item_t); each end draws how it calls
 * and what its datatype is. An end goes through the items in order. It waits
 * only for the item at its turn, or for those before it, so any MPI gets
 * through.
 */
#ifndef TYPES_MESSAGES_H
#define TYPES_MESSAGES_H

#include "types_buffers.h"
#include <sched.h>

enum { SEND, SSEND, BSEND, ISEND, ISSEND, SEND_INIT, SEND_PACKED, SENDS };
enum {
    RECV,
    IRECV,
    IRECV_TEST,
    IRECV_ALL,
    IRECV_LATER,
    MPROBE_MRECV,
    MPROBE_IMRECV,
    PROBE_RECV,
    RECV_INIT,
    RECV_PACKED,
    RECEIVES
};
static const char *const send_names[SENDS] = {"Send",
                                              "Ssend",
                                              "Bsend",
                                              "Isend",
                                              "Issend",
                                              "Send_init",
                                              "Send of MPI_PACKED"};
static const char *const receive_names[RECEIVES] = {
    "Recv",         "Irecv Wait",        "Irecv Test",    "Irecv Waitall",
    "Irecv, later", "Mprobe Mrecv",      "Mprobe Imrecv", "Probe Recv",
    "Recv_init",    "Recv of MPI_PACKED"};

#define BUFFERED_MAX 40000
#define ITEMS_MAX 6

/* What all know of a message. */
typedef struct {
    MPI_Comm comm;
    int from, to, tag; /* ranks in comm */
    bool alone;        /* no other message has the tag */
    signature_t signature;
    int turns, grain; /* of the sequence; a divisor of turns */
    int times;        /* sent again and again */
    bool exchange;    /* one back, by Sendrecv */
    bool replace;     /* by Sendrecv_replace */
    bool overlap;     /* the sender reads bytes twice */
    bool cut;         /* the receiver has too little room */
    size_t bytes;
    uint64_t key;
    int index;
    long round;
} item_t;

typedef struct {
    const item_t *item;
    typed_t buffer;
    bool sends;
    int mode;
    bool large, freed;
    MPI_Request request[2];
    MPI_Status status;
    int error;
    char *packed;
} end_t;

/* Those left to the end of the round. */
static end_t *later[2 * ITEMS_MAX];
static int laters;

static uint64_t seed;
static bool trace;
static FILE *log_file;
static int me; /* in the item's communicator */

static const char *end_says(const end_t *e)
{
    static _Thread_local char text[900];
    const item_t *m = e->item;
    snprintf(text, sizeof text,
             "seed %llu round %ld item %d: %s%s from %d to "
             "%d, %zu bytes (%d basic types, %d turns)%s%s%s%s\n    %s",
             (unsigned long long)seed, m->round, m->index,
             e->sends ? send_names[e->mode] : receive_names[e->mode],
             e->large ? "_c" : "", m->from, m->to, m->bytes, m->signature.n,
             m->turns, m->exchange ? ", exchanged" : "",
             m->overlap ? ", overlapping" : "", m->cut ? ", cut short" : "",
             e->freed ? ", its type freed" : "", typed_says(&e->buffer));
    return text;
}

static void right(const end_t *e, int rc)
{
    if (rc == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int n;
    MPI_Error_string(rc, text, &n);
    fail("%s\n  %s", text, end_says(e));
}

#if HAVE_LARGE_COUNT
#define BOTH(name, ...) \
    (e->large ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
#else
#define BOTH(name, ...) MPI_##name(__VA_ARGS__)
#endif

/* The ends of a message -------------------------------------------------- */

/* The sequence's basic types from its beginning, `n` of them. */
static short *unrolled(const signature_t *s, int n)
{
    short *seq = malloc(((size_t)n + 1) * sizeof *seq);
    for (int i = 0; i < n; i++)
        seq[i] = s->basic[i % s->n];
    return seq;
}

/* A type that describes some turns, which divide `turns`, and how many items
 * of it those are. */
static made_t draw_type(rng_t *r, const signature_t *s, int turns, int grain,
                        bool overlap, bool partial, int *count)
{
    int most = ELEMENTS_CAP / s->n, own = divisor(r, grain);
    if (own > most)
        own = 1;
    *count = turns / own;
    maker_t m = {
        .r = r, .overlap = overlap, .odd = has("odd") && rng_one_in(r, 3)};
    m.column = *count;
    /* MPICH and its kin call half a pair a mismatch. */
    m.whole = partial;
    short *seq = unrolled(s, own * s->n);
    made_t d = make_type(&m, seq, own * s->n, *count);
    free(seq);
    return d;
}

/* The data that a sender's overlapping bytes make. */
static char *overlapping_data(const item_t *m, made_t *type, int *count)
{
    rng_t r = rng_from(key2(m->key, 77));
    *type = draw_type(&r, &m->signature, m->turns, m->grain, true, false,
                      count);
    ptrdiff_t lo, hi;
    made_bounds(type, *count, &lo, &hi);
    char *image = malloc((size_t)(hi - lo) + 1);
    char *data = malloc(m->bytes + 1);
    fill(image, (size_t)(hi - lo), m->key);
    made_get(type, image - lo, data, m->bytes);
    free(image);
    return data;
}

/* A message's pieces: one, or, by absolute addresses, up to three. */
static void end_pieces(rng_t *r, typed_t *t, int count, bool absolute)
{
    made_t *d = &t->made[0];
    int left = count, pieces = absolute ? 1 + (int)rng_below(r, 3) : 1;
    ptrdiff_t at = 0, lo, hi;
    for (int i = 0; i < pieces; i++) {
        int n = i == pieces - 1 ? left : (int)rng_below(r, (size_t)left + 1);
        made_bounds(d, n, &lo, &hi);
        /* Anywhere, but not on the one before. */
        if (i > 0)
            at = t->hi - lo + (ptrdiff_t)rng_below(r, 5000);
        typed_piece(t, d, n, at);
        typed_bounds(t);
        left -= n;
    }
}

/* Spread the packed data over the pieces, from the first on. */
static void end_data(typed_t *t, const char *data, size_t n, bool before,
                     bool after)
{
    for (int i = 0; i < t->pieces; i++) {
        piece_t *p = &t->piece[i];
        size_t room = (size_t)p->count * (size_t)p->type->size;
        size_t k = room < n ? room : n;
        if (before) {
            free(p->before);
            p->before = memcpy(malloc(k + 1), data, k);
            p->n_before = k;
        }
        if (after) {
            free(p->after);
            p->after = memcpy(malloc(k + 1), data, k);
            p->n_after = k;
        }
        data += k;
        n -= k;
    }
}

static end_t *end_new(const item_t *m, bool sends)
{
    end_t *e = calloc(1, sizeof *e);
    e->item = m;
    e->sends = sends;
    e->request[0] = e->request[1] = MPI_REQUEST_NULL;
    return e;
}

/* The user's arguments, once the pieces are there. */
static void end_place(rng_t *r, end_t *e, bool absolute, bool written)
{
    typed_t *t = &e->buffer;
    typed_place(r, t, written);
    if (absolute) {
        typed_absolute(r, t);
    } else {
        t->count = t->piece[0].count;
        t->type = t->made[0].type;
    }
}

static bool draw_absolute(rng_t *r)
{
    return has("bottom") && rng_one_in(r, 5);
}

static end_t *sender(rng_t *r, const item_t *m)
{
    end_t *e = end_new(m, true);
    typed_t *t = &e->buffer;
    int count;
    char *data;
    bool absolute = draw_absolute(r) && !m->overlap;
    if (m->overlap) {
        data = overlapping_data(m, &t->made[0], &count);
    } else {
        data = data_of(m->key, m->bytes);
        t->made[0] = draw_type(r, &m->signature, m->turns, m->grain, false,
                               false, &count);
    }
    t->mades = 1;
    end_pieces(r, t, count, absolute);
    end_data(t, data, m->bytes, true, false);
    free(data);
    e->large = HAVE_LARGE_COUNT && has("large") && rng_one_in(r, 3);
    end_place(r, e, absolute, false);
    return e;
}

#ifdef OMPI_MAJOR_VERSION
static const bool partial_of_mixed = true;
#else
/* MPICH and its kin often find no match where less comes than there is room
 * for, and the basic types differ. */
static const bool partial_of_mixed = false;
#endif

/* Room for the message and perhaps more, or for less. */
static end_t *receiver(rng_t *r, const item_t *m)
{
    static const int grains[] = {1, 1, 2, 3, 4, 6, 8, 12, 24, 60};
    end_t *e = end_new(m, false);
    typed_t *t = &e->buffer;
    int turns = m->turns, grain = m->grain, count;
    if (m->cut) {
        turns = 1 + (int)rng_below(r, (size_t)m->turns - 1);
        grain = 1;
    } else if (has("room") && rng_one_in(r, 3) &&
               (partial_of_mixed || cuts_well(&m->signature))) {
        turns += 1 + (int)rng_size(r, 4000 / (size_t)m->signature.size + 8);
        grain = grains[rng_below(r, LENGTH(grains))];
        turns += turns % grain ? grain - turns % grain : 0;
    }
    bool absolute = draw_absolute(r);
    t->made[0] = draw_type(r, &m->signature, turns, grain, false,
                           turns != m->turns, &count);
    t->mades = 1;
    end_pieces(r, t, count, absolute);
    char *data = m->overlap ? NULL : data_of(m->key, m->bytes);
    if (m->overlap) {
        made_t theirs;
        int n;
        data = overlapping_data(m, &theirs, &n);
        made_drop(&theirs);
    }
    end_data(t, data, m->bytes, false, true);
    free(data);
    e->large = HAVE_LARGE_COUNT && has("large") && rng_one_in(r, 3);
    end_place(r, e, absolute, true);
    return e;
}

/* Its type goes, perhaps while the message is under way. */
static void end_let_go(end_t *e)
{
    typed_t *t = &e->buffer;
    e->freed = true;
    if (t->absolute)
        MPI_Type_free(&t->type);
    if (t->made[0].mine)
        MPI_Type_free(&t->made[0].type);
}

/* What must be true when it has ended ------------------------------------ */

static void end_check_status(end_t *e)
{
    const item_t *m = e->item;
    const made_t *d = &e->buffer.made[0];
    MPI_Status *s = &e->status;
    int count = -1, elements = -1, bytes = -1;
    MPI_Get_elements(s, MPI_BYTE, &bytes);
    CHECK(s->MPI_SOURCE == m->from && s->MPI_TAG == m->tag,
          "received from %d with tag %d\n  %s", s->MPI_SOURCE, s->MPI_TAG,
          end_says(e));
    CHECK((size_t)bytes == m->bytes, "%d bytes\n  %s", bytes, end_says(e));
    if (!e->freed && e->mode != RECV_PACKED) {
        size_t size = (size_t)d->size;
        if (e->buffer.absolute) {
            size = 0;
            for (int i = 0; i < e->buffer.pieces; i++)
                size += (size_t)d->size * (size_t)e->buffer.piece[i].count;
        }
        int want = m->bytes % size ? MPI_UNDEFINED : (int)(m->bytes / size);
        MPI_Get_count(s, e->buffer.type, &count);
        CHECK(count == want, "count %d, not %d\n  %s", count, want,
              end_says(e));
        /* The standard leaves open whether a pair is one element or two. MPICH
         * and its kin divide by zero, or miscount, in many derived types. */
        bool known = !d->pairs;
#ifndef OMPI_MAJOR_VERSION
        known = known && !d->mine && !e->buffer.absolute;
#endif
        if (known) {
            want = m->turns * m->signature.n;
            MPI_Get_elements(s, e->buffer.type, &elements);
            CHECK(elements == want, "%d elements, not %d\n  %s", elements, want,
                  end_says(e));
        }
    }
    if (log_file)
        fprintf(log_file, " from %d tag %d bytes %d count %d elements %d",
                s->MPI_SOURCE, s->MPI_TAG, bytes, count, elements);
}

static void end_check(end_t *e)
{
    const item_t *m = e->item;
    uint64_t digest = 0;
    ptrdiff_t at;
    if (e->sends) {
        at = typed_wrong(&e->buffer, false, NULL);
        CHECK(at == NOTHING, "what was sent is changed at %td\n  %s", at,
              end_says(e));
        return;
    }
    if (log_file)
        fprintf(log_file, "%ld.%d", m->round, m->index);
    if (m->cut) {
        int class = 0;
        MPI_Error_class(e->error, &class);
        at = typed_wrong_outside(&e->buffer);
        CHECK(at == NOTHING, "cut short, and written beyond at %td\n  %s", at,
              end_says(e));
        CHECK(class == MPI_ERR_TRUNCATE, "cut short, error class %d\n  %s",
              class, end_says(e));
    } else {
        at = typed_wrong(&e->buffer, true, &digest);
        CHECK(at == NOTHING, "received a wrong byte at %td\n  %s", at,
              end_says(e));
        end_check_status(e);
    }
    if (log_file)
        fprintf(log_file, " error %s %016llx\n", m->cut ? "truncate" : "none",
                (unsigned long long)digest);
}

static void end_drop(end_t *e)
{
    typed_drop(&e->buffer);
    free(e->packed);
    free(e);
}

/* The calls --------------------------------------------------------------- */

#define OUT t->user, t->count, t->type, m->to, m->tag, m->comm
#define IN t->user, t->count, t->type
#define FROM                                                               \
    any_source ? MPI_ANY_SOURCE : m->from, any_tag ? MPI_ANY_TAG : m->tag, \
        m->comm

static void wait_for(end_t *e)
{
    if (e->mode == IRECV_TEST) {
        int flag = 0;
        while (!flag) {
            e->error = MPI_Test(&e->request[0], &flag, &e->status);
            if (!flag)
                sched_yield();
        }
    } else if (e->mode == IRECV_ALL) {
        MPI_Status status[2];
        e->error = MPI_Waitall(2, e->request, status);
        e->status = status[0];
        if (e->error == MPI_ERR_IN_STATUS)
            e->error = status[0].MPI_ERROR;
    } else {
        e->error = MPI_Wait(&e->request[0], &e->status);
    }
    if (!e->sends && e->item->cut)
        return;
    right(e, e->error);
}

/* Begins, or makes, the sending; false: it has ended. */
static bool send_begin(end_t *e)
{
    const item_t *m = e->item;
    typed_t *t = &e->buffer;
    switch (e->mode) {
    case SEND: right(e, BOTH(Send, OUT)); return false;
    case SSEND: right(e, BOTH(Ssend, OUT)); return false;
    case BSEND: right(e, BOTH(Bsend, OUT)); return false;
    case SEND_PACKED: {
        int room = 0, at = 0;
        MPI_Pack_size(t->count, t->type, m->comm, &room);
        e->packed = malloc((size_t)room + 1);
        right(e, MPI_Pack(t->user, t->count, t->type, e->packed, room, &at,
                          m->comm));
        right(e, MPI_Isend(e->packed, at, MPI_PACKED, m->to, m->tag, m->comm,
                           &e->request[0]));
        break;
    }
    case ISEND: right(e, BOTH(Isend, OUT, &e->request[0])); break;
    case ISSEND: right(e, BOTH(Issend, OUT, &e->request[0])); break;
    case SEND_INIT:
        if (e->request[0] == MPI_REQUEST_NULL)
            right(e, BOTH(Send_init, OUT, &e->request[0]));
        right(e, MPI_Start(&e->request[0]));
        break;
    }
    return true;
}

static bool receive_begin(rng_t *r, end_t *e)
{
    const item_t *m = e->item;
    typed_t *t = &e->buffer;
    MPI_Message message;
    MPI_Status seen;
    bool any_source = m->alone && rng_one_in(r, 4);
    bool any_tag = !any_source && rng_one_in(r, 6);
    switch (e->mode) {
    case RECV: e->error = BOTH(Recv, IN, FROM, &e->status); break;
    case PROBE_RECV:
        right(e, MPI_Probe(m->from, m->tag, m->comm, &seen));
        e->error = BOTH(Recv, IN, seen.MPI_SOURCE, seen.MPI_TAG, m->comm,
                        &e->status);
        break;
    case MPROBE_MRECV:
        right(e, MPI_Mprobe(m->from, m->tag, m->comm, &message, &seen));
        e->error = BOTH(Mrecv, IN, &message, &e->status);
        break;
    case RECV_PACKED: {
        int n = (int)m->bytes + 64, at = 0, come = 0;
        e->packed = malloc((size_t)n);
        right(e, MPI_Recv(e->packed, n, MPI_PACKED, m->from, m->tag, m->comm,
                          &e->status));
        MPI_Get_count(&e->status, MPI_PACKED, &come);
        right(e, MPI_Unpack(e->packed, come, &at, t->user, t->count, t->type,
                            m->comm));
        break;
    }
    case MPROBE_IMRECV:
        right(e, MPI_Mprobe(m->from, m->tag, m->comm, &message, &seen));
        right(e, BOTH(Imrecv, IN, &message, &e->request[0]));
        break;
    case RECV_INIT:
        if (e->request[0] == MPI_REQUEST_NULL)
            right(e, BOTH(Recv_init, IN, m->from, m->tag, m->comm,
                          &e->request[0]));
        right(e, MPI_Start(&e->request[0]));
        break;
    default: right(e, BOTH(Irecv, IN, FROM, &e->request[0]));
    }
    if (e->mode == RECV || e->mode == PROBE_RECV || e->mode == MPROBE_MRECV ||
        e->mode == RECV_PACKED) {
        if (!m->cut)
            right(e, e->error);
        return false;
    }
    return true;
}

static int draw_send_mode(rng_t *r, const item_t *m, bool may_block)
{
    int mode = (int)rng_below(r, SENDS);
    if (mode == BSEND && (m->bytes > BUFFERED_MAX || !has("buffered")))
        mode = SEND;
    if ((mode == SEND_PACKED && !has("packed")) ||
        (mode == SEND_INIT && !has("persistent")))
        mode = ISEND;
    if (!may_block && mode < BSEND)
        mode += ISEND - SEND;
    return mode;
}

static int draw_receive_mode(rng_t *r, const item_t *m, const end_t *e)
{
    int mode = (int)rng_below(r, RECEIVES);
    size_t room = 0;
    for (int i = 0; i < e->buffer.pieces; i++)
        room += (size_t)e->buffer.piece[i].count *
                (size_t)e->buffer.made[0].size;
    if (mode == RECV_PACKED && (m->cut || room != m->bytes || !has("packed")))
        mode = IRECV;
    if (mode == RECV_INIT && !has("persistent"))
        mode = IRECV;
    if ((mode == MPROBE_MRECV || mode == MPROBE_IMRECV || mode == PROBE_RECV) &&
        !has("probe"))
        mode = RECV;
    if (mode == IRECV_LATER && (m->times > 1 || m->cut))
        mode = IRECV;
    return mode;
}

/* Other data for the next time. */
static void end_again(end_t *e, uint64_t key)
{
    const item_t *m = e->item;
    if (!m->overlap) {
        char *data = data_of(key, m->bytes);
        end_data(&e->buffer, data, m->bytes, e->sends, !e->sends);
        free(data);
    }
    typed_fill(&e->buffer);
}

static bool draw_let_go(rng_t *r)
{
    return has("letgo") && rng_one_in(r, 4);
}

static void end_trace(const end_t *e)
{
    if (trace)
        fprintf(stderr, "[%d] %s\n", world_rank, end_says(e));
}

/* The end of what one time of an item began. */
static void end_finish(end_t *e)
{
    end_check(e);
    free(e->packed);
    e->packed = NULL;
}

static void end_delete(end_t *e)
{
    if (e->request[0] != MPI_REQUEST_NULL)
        MPI_Request_free(&e->request[0]); /* a persistent one */
    end_drop(e);
}

/* An item in one direction, `me` at one end of it or at both. */
static void item_pass(rng_t *r, const item_t *m)
{
    end_t *s = m->from == me ? sender(r, m) : NULL;
    end_t *t = m->to == me ? receiver(r, m) : NULL;
    bool s_later = false, t_later = false;
    if (s) {
        s->mode = draw_send_mode(r, m, !t);
        end_trace(s);
    }
    if (t) {
        t->mode = draw_receive_mode(r, m, t);
        t_later = t->mode == IRECV_LATER;
        end_trace(t);
    }
    for (int i = 0; i < m->times; i++) {
        uint64_t key = key2(m->key, 500u + (uint64_t)i);
        if (i > 0 && s)
            end_again(s, key);
        if (i > 0 && t)
            end_again(t, key);
        bool sending = s && send_begin(s);
        if (sending && m->times == 1 && draw_let_go(r))
            end_let_go(s);
        bool receiving = t && receive_begin(r, t);
        if (receiving && m->times == 1 && draw_let_go(r))
            end_let_go(t);
        if (receiving && !t_later)
            wait_for(t);
        s_later = sending && m->times == 1 && rng_one_in(r, 3);
        if (sending && !s_later)
            wait_for(s);
        if (s && !s_later)
            end_finish(s);
        if (t && !t_later)
            end_finish(t);
    }
    if (s_later)
        later[laters++] = s;
    else if (s)
        end_delete(s);
    if (t_later)
        later[laters++] = t;
    else if (t)
        end_delete(t);
}

/* What has been left: all at once. */
static void laters_end(void)
{
    MPI_Request request[2 * ITEMS_MAX];
    MPI_Status status[2 * ITEMS_MAX];
    for (int i = 0; i < laters; i++)
        request[i] = later[i]->request[0];
    if (laters)
        right(later[0], MPI_Waitall(laters, request, status));
    for (int i = 0; i < laters; i++) {
        later[i]->request[0] = request[i];
        later[i]->status = status[i];
        end_finish(later[i]);
        end_delete(later[i]);
    }
    laters = 0;
}

/* There and back again; `me` may be both. */
static void item_exchange(rng_t *r, const item_t *m)
{
    item_t in = *m, out = *m;
    int other = m->from == me ? m->to : m->from;
    in.from = out.to = other;
    in.to = out.from = me;
    in.key = key2(m->key, (uint64_t)other);
    out.key = key2(m->key, (uint64_t)me);
    end_t *e = receiver(r, &in), *s = NULL;
    typed_t *t = &e->buffer;
    size_t room = 0;
    for (int i = 0; i < t->pieces; i++)
        room += (size_t)t->piece[i].count * (size_t)t->made[0].size;
    if (m->replace && room == m->bytes) {
        char *data = data_of(out.key, m->bytes);
        end_data(t, data, m->bytes, true, false);
        free(data);
        typed_fill(t);
        end_trace(e);
        right(e, BOTH(Sendrecv_replace, IN, other, m->tag, other, m->tag,
                      m->comm, &e->status));
    } else {
        s = sender(r, &out);
        const typed_t *o = &s->buffer;
        end_trace(s);
        end_trace(e);
        right(e, BOTH(Sendrecv, o->user, o->count, o->type, other, m->tag, IN,
                      other, m->tag, m->comm, &e->status));
        end_check(s);
        end_drop(s);
    }
    end_check(e);
    end_drop(e);
}

#endif
