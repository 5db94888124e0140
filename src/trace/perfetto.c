/*
 * perfetto.c - see perfetto.h. Numbers of fields are those of Perfetto's
 * trace_packet.proto, track_event.proto, track_descriptor.proto,
 * debug_annotation.proto and interned_data.proto.
 */
#include "perfetto.h"

#include <stdlib.h>

enum {
    TRACE_PACKET = 1,

    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_PREVIOUS_DROPPED = 42,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87,

    FLAG_CLEARED = 1, /* strings told before are forgotten */
    FLAG_NEEDS = 2,   /* the packet needs those told before */

    DEFAULTS_TRACK_EVENT = 11,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_FLOW = 47,
    EVENT_LAST_OF_FLOW = 48,
    TYPE_BEGIN = 1,
    TYPE_END = 2,

    ANNOTATION_NAME = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_SIGNED = 4,
    ANNOTATION_STRING = 17,

    INTERNED_CATEGORY = 1,
    INTERNED_EVENT = 2,
    INTERNED_ANNOTATION = 3,
    INTERNED_STRING = 29,
    INTERNED_NUMBER = 1,
    INTERNED_TEXT = 2,

    TRACK_UUID = 1,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_ORDER = 3,
    PROCESS_NAME = 6,
    PROCESS_LABEL = 8,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
};

/* Ranks of several nodes may have the same process number, so they get others:
 * a million and the rank. A thread's are beyond those. */
#define FIRST_PID 1000000u
#define FIRST_TID 1000000000u

/* Strings that every sequence has. Those of sw_names_t follow them, so that
 * string s of these is OWN_STRINGS + s. */
enum {
    MPI = 1,
    UNKNOWN,
    WAITING,
    BYTES_SENT,
    BYTES_RECEIVED,
    SIZE,
    TO_RANK,
    TO_TAG,
    FROM_RANK,
    FROM_TAG,
    SENDS,
    RECEIVES,
    COLLECTIVE,
    FAILED,
    OWN_STRINGS = FAILED,
};
static const char *const own[OWN_STRINGS + 1] = {
    "",
    "MPI",
    "(unknown)",
    "waiting",
    "bytes sent",
    "bytes received",
    "size",
    "to rank",
    "to tag",
    "from rank",
    "from tag",
    "messages sent",
    "messages received",
    "collective",
    "failed",
};

/* Packets ----------------------------------------------------------------- */

static size_t open_packet(sw_perfetto_t *p, const sw_thread_name_t *t,
                          uint64_t flags)
{
    size_t packet = sw_proto_open(&p->out, TRACE_PACKET);
    sw_proto_number(&p->out, PACKET_SEQUENCE, t->sequence);
    sw_proto_number(&p->out, PACKET_FLAGS, flags);
    return packet;
}

static void tell_string(sw_perfetto_t *p, uint32_t kind, uint32_t number,
                        const char *text)
{
    size_t string = sw_proto_open(&p->out, kind);
    sw_proto_number(&p->out, INTERNED_NUMBER, number);
    sw_proto_text(&p->out, INTERNED_TEXT, text);
    sw_proto_close(&p->out, string);
}

/* Tracks ------------------------------------------------------------------ */

static uint64_t process_uuid(const sw_rank_name_t *r)
{
    return ((uint64_t)r->number + 1) << 32;
}

static uint64_t thread_uuid(const sw_rank_name_t *r, const sw_thread_name_t *t)
{
    return process_uuid(r) + t->number + 1;
}

static void tell_process(sw_perfetto_t *p, const sw_thread_name_t *t,
                         const sw_rank_name_t *r)
{
    sw_proto_t *to = &p->out;
    size_t packet = open_packet(p, t, FLAG_NEEDS);
    size_t track = sw_proto_open(to, PACKET_TRACK);
    sw_proto_number(to, TRACK_UUID, process_uuid(r));
    size_t process = sw_proto_open(to, TRACK_PROCESS);
    sw_proto_number(to, PROCESS_PID, FIRST_PID + r->number);
    sw_proto_number(to, PROCESS_ORDER, r->number);
    sw_proto_text(to, PROCESS_NAME, r->name);
    sw_proto_text(to, PROCESS_LABEL, r->label);
    sw_proto_close(to, process);
    sw_proto_close(to, track);
    sw_proto_close(to, packet);
}

static void tell_thread(sw_perfetto_t *p, const sw_thread_name_t *t,
                        const sw_rank_name_t *r)
{
    sw_proto_t *to = &p->out;
    size_t packet = open_packet(p, t, FLAG_NEEDS);
    size_t track = sw_proto_open(to, PACKET_TRACK);
    sw_proto_number(to, TRACK_UUID, thread_uuid(r, t));
    sw_proto_number(to, TRACK_PARENT, process_uuid(r));
    size_t thread = sw_proto_open(to, TRACK_THREAD);
    sw_proto_number(to, THREAD_PID, FIRST_PID + r->number);
    sw_proto_number(to, THREAD_TID,
                    t->number ? FIRST_TID + t->sequence
                              : FIRST_PID + r->number);
    sw_proto_text(to, THREAD_NAME, t->name);
    sw_proto_close(to, thread);
    sw_proto_close(to, track);
    sw_proto_close(to, packet);
}

/* The first packets of a thread: what holds for all that follow, then its
 * name. */
static void begin_sequence(sw_perfetto_t *p, sw_rank_name_t *r,
                           sw_thread_name_t *t)
{
    sw_proto_t *to = &p->out;
    t->sequence = ++p->sequences;
    t->told = calloc(p->names->string_count + 1, 1);
    if (!t->told) {
        sw_proto_lost(to);
        return;
    }
    size_t packet = open_packet(p, t, FLAG_CLEARED | FLAG_NEEDS);
    sw_proto_number(to, PACKET_FIRST, 1);
    sw_proto_number(to, PACKET_PREVIOUS_DROPPED, 1);
    size_t defaults = sw_proto_open(to, PACKET_DEFAULTS);
    size_t event = sw_proto_open(to, DEFAULTS_TRACK_EVENT);
    sw_proto_number(to, EVENT_TRACK, thread_uuid(r, t));
    sw_proto_close(to, event);
    sw_proto_close(to, defaults);
    size_t interned = sw_proto_open(to, PACKET_INTERNED);
    tell_string(p, INTERNED_CATEGORY, MPI, own[MPI]);
    tell_string(p, INTERNED_EVENT, UNKNOWN, own[UNKNOWN]);
    tell_string(p, INTERNED_EVENT, WAITING, own[WAITING]);
    for (uint32_t i = BYTES_SENT; i <= OWN_STRINGS; i++)
        tell_string(p, INTERNED_ANNOTATION, i, own[i]);
    sw_proto_close(to, interned);
    sw_proto_close(to, packet);
    if (!r->shown)
        tell_process(p, t, r);
    r->shown = true;
    tell_thread(p, t, r);
}

/* Annotations ------------------------------------------------------------- */

static size_t open_annotation(sw_proto_t *to, uint32_t name)
{
    size_t annotation = sw_proto_open(to, EVENT_ANNOTATION);
    sw_proto_number(to, ANNOTATION_NAME, name);
    return annotation;
}

static void annotate(sw_proto_t *to, uint32_t name, uint32_t form, uint64_t n)
{
    size_t annotation = open_annotation(to, name);
    sw_proto_number(to, form, n);
    sw_proto_close(to, annotation);
}

static void annotate_bytes(sw_proto_t *to, const sw_trace_event_t *e)
{
    if (e->sent)
        annotate(to, BYTES_SENT, ANNOTATION_UNSIGNED, e->sent);
    if (e->received)
        annotate(to, BYTES_RECEIVED, ANNOTATION_UNSIGNED, e->received);
    if (e->size && e->size != e->sent && e->size != e->received)
        annotate(to, SIZE, ANNOTATION_UNSIGNED, e->size);
}

/* One message is told; of several, how many. */
static void annotate_messages(sw_proto_t *to, const sw_trace_note_t *one,
                              uint32_t count, uint32_t rank, uint32_t counted)
{
    if (count == 1) {
        annotate(to, rank, ANNOTATION_SIGNED, (uint64_t)one->peer);
        annotate(to, rank + 1, ANNOTATION_SIGNED, (uint64_t)one->tag);
    } else if (count) {
        annotate(to, counted, ANNOTATION_UNSIGNED, count);
    }
}

static void annotate_notes(sw_proto_t *to, const sw_trace_event_t *e)
{
    const sw_trace_note_t *sent = NULL, *received = NULL;
    uint32_t sends = 0, receives = 0;
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *n = &e->notes[i];
        switch (n->kind) {
        case SW_NOTE_SENDS:
            sent = n;
            sends++;
            break;
        case SW_NOTE_RECEIVES:
        case SW_NOTE_POSTS:
        case SW_NOTE_CAME:
            received = n;
            receives++;
            break;
        case SW_NOTE_TARGET:
            if (n->peer != SW_PEER_ANY)
                annotate(to, TO_RANK, ANNOTATION_SIGNED, (uint64_t)n->peer);
            break;
        case SW_NOTE_COLLECTIVE:
            annotate(to, COLLECTIVE, ANNOTATION_UNSIGNED, n->number);
            break;
        default: break;
        }
    }
    annotate_messages(to, sent, sends, TO_RANK, SENDS);
    annotate_messages(to, received, receives, FROM_RANK, RECEIVES);
}

/* What is alike in all calls of a record: made once. */

static void tell_once(sw_perfetto_t *p, sw_thread_name_t *t, uint32_t kind,
                      unsigned bit, uint32_t string)
{
    if (t->told[string] & 1u << bit)
        return;
    t->told[string] |= (unsigned char)(1u << bit);
    tell_string(p, kind, OWN_STRINGS + string, p->names->strings[string]);
}

/* The details of a call, one after the other. */
typedef struct {
    uint32_t name;
    bool is_string;
    uint64_t value;
} detail_t;

static bool next_detail(const sw_names_t *names, const char **at, detail_t *d)
{
    char *end;
    if (!**at)
        return false;
    d->name = (uint32_t)strtoul(*at, &end, 10);
    if (*end != ':' && *end != '=')
        return false;
    d->is_string = *end == ':';
    d->value = strtoull(end + 1, &end, 10);
    *at = *end ? end + 1 : end;
    return d->name && d->name < names->string_count &&
           (!d->is_string || (d->value && d->value < names->string_count));
}

static void encode_call(sw_perfetto_t *p, sw_thread_name_t *t,
                        sw_call_name_t *c)
{
    const char *at = c->details;
    sw_proto_t to = {.fd = -1};
    detail_t d;
    size_t packet = open_packet(p, t, FLAG_NEEDS);
    size_t interned = sw_proto_open(&p->out, PACKET_INTERNED);
    tell_once(p, t, INTERNED_EVENT, 0, c->name);
    tell_once(p, t, INTERNED_CATEGORY, 1, c->category);
    sw_proto_number(&to, EVENT_NAME, OWN_STRINGS + c->name);
    sw_proto_number(&to, EVENT_CATEGORY, OWN_STRINGS + c->category);
    while (next_detail(p->names, &at, &d)) {
        tell_once(p, t, INTERNED_ANNOTATION, 2, d.name);
        if (d.is_string)
            tell_once(p, t, INTERNED_STRING, 3, (uint32_t)d.value);
        annotate(&to, OWN_STRINGS + d.name,
                 d.is_string ? ANNOTATION_STRING : ANNOTATION_SIGNED,
                 d.value + (d.is_string ? OWN_STRINGS : 0));
    }
    sw_proto_close(&p->out, interned);
    sw_proto_close(&p->out, packet);
    c->encoded = realloc(to.at, to.size);
    c->encoded_bytes = (uint32_t)to.size;
    if (!c->encoded || to.error)
        sw_proto_lost(&p->out);
}

/* Flows ------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 32;
}

static uint64_t message_flow(uint64_t communicator, uint32_t from,
                             const sw_trace_note_t *n, uint32_t to)
{
    uint64_t ranks = (uint64_t)from << 32 | to;
    return mix(mix(mix(mix(communicator, 1), ranks), (uint64_t)n->tag),
               n->number) |
           1;
}

/* The communicator of a message or collective that both its ends name alike;
 * 0: they do not. */
static uint64_t communicator_of(const sw_rank_name_t *r,
                                const sw_trace_note_t *n)
{
    return n->number && n->peer >= 0 ? sw_names_communicator(r, n->communicator)
                                     : 0;
}

static void begin_flows(sw_proto_t *to, const sw_trace_event_t *e,
                        const sw_rank_name_t *r)
{
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *n = &e->notes[i];
        uint64_t communicator = communicator_of(r, n);
        if (n->kind == SW_NOTE_SENDS && communicator)
            sw_proto_fixed64(
                to, EVENT_FLOW,
                message_flow(communicator, r->number, n, (uint32_t)n->peer));
        else if (n->kind == SW_NOTE_COLLECTIVE && communicator)
            sw_proto_fixed64(to, EVENT_FLOW,
                             mix(mix(communicator, 2), n->number) | 1);
    }
}

static void end_flows(sw_proto_t *to, const sw_trace_event_t *e,
                      const sw_rank_name_t *r)
{
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *n = &e->notes[i];
        uint64_t communicator = communicator_of(r, n);
        if ((n->kind == SW_NOTE_RECEIVES || n->kind == SW_NOTE_CAME) &&
            communicator)
            sw_proto_fixed64(
                to, EVENT_LAST_OF_FLOW,
                message_flow(communicator, (uint32_t)n->peer, n, r->number));
    }
}

/* Events ------------------------------------------------------------------ */

static size_t open_event(sw_perfetto_t *p, const sw_thread_name_t *t,
                         uint64_t time, uint64_t type, size_t *packet)
{
    *packet = open_packet(p, t, FLAG_NEEDS);
    sw_proto_number(&p->out, PACKET_TIMESTAMP, time);
    size_t event = sw_proto_open(&p->out, PACKET_TRACK_EVENT);
    sw_proto_number(&p->out, EVENT_TYPE, type);
    return event;
}

static void close_event(sw_perfetto_t *p, size_t event, size_t packet)
{
    sw_proto_close(&p->out, event);
    sw_proto_close(&p->out, packet);
}

static void put_waiting(sw_perfetto_t *p, const sw_thread_name_t *t,
                        uint64_t from, uint64_t to)
{
    size_t packet, event = open_event(p, t, from, TYPE_BEGIN, &packet);
    sw_proto_number(&p->out, EVENT_NAME, WAITING);
    sw_proto_number(&p->out, EVENT_CATEGORY, MPI);
    close_event(p, event, packet);
    event = open_event(p, t, to, TYPE_END, &packet);
    close_event(p, event, packet);
}

static void put_event(sw_perfetto_t *p, const sw_rank_name_t *r,
                      sw_thread_name_t *t, const sw_trace_event_t *e)
{
    sw_proto_t *to = &p->out;
    sw_call_name_t *call = sw_names_call(t, e->record);
    if (call && sw_unlikely(!call->encoded))
        encode_call(p, t, call);
    uint64_t begin = sw_names_time(r, e->begin);
    uint64_t end = sw_names_time(r, e->end);
    size_t packet, event = open_event(p, t, begin, TYPE_BEGIN, &packet);
    if (call) {
        sw_proto_raw(to, call->encoded, call->encoded_bytes);
    } else {
        sw_proto_number(to, EVENT_NAME, UNKNOWN);
        sw_proto_number(to, EVENT_CATEGORY, MPI);
        p->unnamed++;
    }
    annotate_bytes(to, e);
    if (e->note_count) {
        annotate_notes(to, e);
        begin_flows(to, e, r);
    }
    if (e->failed)
        annotate(to, FAILED, ANNOTATION_BOOL, 1);
    close_event(p, event, packet);
    if (e->waited)
        put_waiting(p, t, begin, sw_names_time(r, e->begin + e->waited));
    event = open_event(p, t, end, TYPE_END, &packet);
    if (e->note_count)
        end_flows(to, e, r);
    close_event(p, event, packet);
    p->events++;
}

/* Files ------------------------------------------------------------------- */

void sw_perfetto_begin(sw_perfetto_t *p, sw_names_t *names, int fd)
{
    *p = (sw_perfetto_t){.names = names, .out.fd = fd};
}

static bool wanted(void *of, uint32_t rank)
{
    const sw_perfetto_t *p = of;
    const sw_rank_name_t *r = sw_names_rank(p->names, rank);
    return r && r->file == p->file;
}

bool sw_perfetto_add(sw_perfetto_t *p, sw_trace_reader_t *reader)
{
    reader->wanted = wanted;
    reader->wanted_of = p;
    while (!p->out.error && sw_trace_block(reader)) {
        sw_rank_name_t *r = sw_names_rank(p->names, reader->rank);
        sw_thread_name_t *t = sw_names_thread(r, reader->thread);
        if (!t)
            sw_proto_lost(&p->out);
        else if (!t->sequence)
            begin_sequence(p, r, t);
        while (!p->out.error && sw_trace_event(reader)) {
            put_event(p, r, t, &reader->event);
            sw_proto_flush(&p->out, false);
        }
    }
    p->file++;
    return !p->out.error && !reader->error;
}

bool sw_perfetto_end(sw_perfetto_t *p)
{
    sw_proto_flush(&p->out, true);
    return !p->out.error;
}

void sw_perfetto_free(sw_perfetto_t *p)
{
    sw_proto_free(&p->out);
}
