/* report.c - see report.h. */
#include "report.h"

#include <stdio.h>
#include <time.h>

#include "contract/flavour.h"
#include "json.h"
#include "look.h"
#include "task.h"

/* The process under way. */
static sw_display_t *display;
static const sw_watch_t *w;
static const sw_report_options_t *options;

/* Time -------------------------------------------------------------------- */

/* Seconds since then. */
static double since(sw_watch_time_t then)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    double s = (double)(t.tv_sec - then.seconds) +
               (double)(t.tv_nsec - then.ns) * 1e-9;
    return s > 0 ? s : 0;
}

/* Small things ------------------------------------------------------------ */

static void put_row(const char *name, uint32_t row)
{
    if (row)
        sw_json_number(name, row);
    else
        sw_json_null(name);
}

static void put_rank(const char *name, int32_t rank)
{
    if (rank >= 0)
        sw_json_number(name, rank);
    else if (rank == SW_WATCH_ANY)
        sw_json_text(name, "any");
    else if (rank == SW_WATCH_FOREIGN)
        sw_json_text(name, "foreign");
    else
        sw_json_null(name);
}

/* No rank is any here. */
static void put_root(int32_t rank)
{
    put_rank("root", rank == SW_WATCH_ANY ? SW_WATCH_NOBODY : rank);
}

static void put_bytes(uint64_t bytes)
{
    if (bytes == SW_WATCH_UNKNOWN)
        sw_json_null("bytes");
    else
        sw_json_number("bytes", (int64_t)bytes);
}

/* As a text: many readers of JSON have no integers of 64 bits. */
static const char *sum_of(const _Atomic uint64_t *sum)
{
    static char text[24];

    snprintf(
        text, sizeof text, "%llu",
        (unsigned long long)atomic_load_explicit(sum, memory_order_relaxed));
    return text;
}

static void put_number(uint64_t number)
{
    if (number)
        sw_json_number("number", (int64_t)number);
    else
        sw_json_null("number");
}

static void put_procedure(const char *name, uint32_t procedure)
{
    sw_json_text(name, procedure <= SW_PROC_straightway_take
                           ? sw_proc_names[procedure]
                           : "?");
}

static void put_state(char state)
{
    char text[2] = {state, 0};
    sw_json_text("state", text);
}

/* Frames ------------------------------------------------------------------ */

static void put_python(const sw_python_stack_t *p)
{
    for (int i = 0; i < p->count; i++) {
        sw_json_begin(NULL, '{');
        sw_json_text("file", p->frame[i].file);
        sw_json_number("line", p->frame[i].line);
        sw_json_text("function", p->frame[i].function);
        sw_json_end();
    }
}

static void put_frames(const sw_frames_t *f)
{
    for (int i = 0; i < f->count; i++) {
        const sw_image_t *m = f->frame[i].image;
        sw_json_begin(NULL, '{');
        sw_json_text("module", m ? m->path : "");
        sw_json_number("offset", (int64_t)f->frame[i].offset);
        sw_json_text("build_id", m ? m->build_id : "");
        sw_json_end();
    }
}

static void put_stack(const sw_look_t *look)
{
    sw_json_begin("stack", '[');
    put_python(&look->python);
    put_frames(&look->frames);
    sw_json_end();
}

/* The one frame of a return address. */
static void put_place(uint64_t pc)
{
    static sw_frames_t frames;

    sw_json_begin("stack", '[');
    if (pc && options->stacks) {
        sw_stack_first(display->space, (sw_point_t){.pc = pc}, &frames);
        put_frames(&frames);
    }
    sw_json_end();
}

/* Threads ----------------------------------------------------------------- */

static void put_call(const sw_look_t *look)
{
    const sw_watch_call_t *c = &look->row.call;

    if (!look->good || c->procedure == SW_WATCH_NO_CALL) {
        sw_json_null("call");
        return;
    }
    sw_json_begin("call", '{');
    put_procedure("name", c->procedure);
    put_row("comm", c->comm);
    put_row("window", c->window);
    put_rank("peer", c->peer);
    put_rank("tag", c->tag);
    put_rank("to", c->to);
    put_rank("to_tag", c->to_tag);
    put_root(c->root);
    put_bytes(c->bytes);
    put_number(c->number);
    sw_json_number("requests", (int64_t)c->requests);
    if (look->row.inside && c->has & SW_WATCH_HAS_BEGAN)
        sw_json_real("since", since(c->began));
    else
        sw_json_null("since");
    if (look->row.inside && look->known)
        put_stack(look);
    else
        put_place(c->from.pc);
    sw_json_end();
}

static void put_thread(const sw_look_t *look, pid_t tid, char state)
{
    bool inside = look->good && look->row.inside;

    sw_json_begin(NULL, '{');
    sw_json_number("tid", tid);
    sw_json_bool("main", tid == display->space->pid);
    put_state(state);
    sw_json_number("finished", look->good ? (int64_t)look->row.finished : 0);
    sw_json_bool("inside", inside);
    put_call(look);
    if (!inside && look->known)
        put_stack(look);
    else
        sw_json_null("stack");
    sw_json_end();
}

/* The thread's number as this program sees it. */
static pid_t outer(pid_t tid)
{
    pid_t pid = display->space->pid;

    return !display->inside ? tid
           : tid == w->pid  ? pid
                            : sw_task_inner(pid, tid);
}

static void put_threads(char main_state)
{
    static sw_look_t look;
    pid_t pid = display->space->pid;
    bool main_seen = false;

    sw_json_begin("threads", '[');
    for (size_t i = 0; i < SW_WATCH_THREADS; i++) {
        const sw_watch_thread_t *row = &w->threads[i];
        if (!sw_display_has(display, row, sizeof *row) || row->tid <= 0)
            continue;
        pid_t tid = outer(row->tid);
        char state = tid == pid ? main_state : sw_task_state(pid, tid);
        if (!tid || !state)
            continue;
        main_seen |= tid == pid;
        sw_look_thread(display, i, tid, state, options->stacks,
                       options->samples, &look);
        put_thread(&look, tid, state);
    }
    if (!main_seen && options->samples) {
        sw_look_outside(display, pid, main_state, &look);
        put_thread(&look, pid, main_state);
    }
    sw_json_end();
}

/* Tables ------------------------------------------------------------------ */

static void put_recent(const sw_watch_comm_t *c)
{
    uint64_t begun = atomic_load(&c->begun);
    uint64_t n = begun > SW_WATCH_RECENT ? begun - SW_WATCH_RECENT + 1 : 1;

    sw_json_begin("recent", '[');
    for (; n && n <= begun; n++) {
        sw_json_begin(NULL, '{');
        put_number(n);
        put_procedure("call", c->recent[n % SW_WATCH_RECENT].procedure);
        put_root(c->recent[n % SW_WATCH_RECENT].root);
        sw_json_end();
    }
    sw_json_end();
}

static void put_comm(const sw_watch_comm_t *c)
{
    char id[17];

    for (int k = 0; k < 16; k++)
        id[k] = "0123456789abcdef"[c->id >> (60 - 4 * k) & 15];
    id[16] = 0;
    sw_json_number("row", c - w->comms);
    sw_json_text("id", id);
    sw_json_field("name", c->name, sizeof c->name);
    sw_json_number("size", c->size);
    sw_json_number("rank", c->rank);
    sw_json_number("remote", c->remote);
    put_rank("first", c->first);
    sw_json_number("begun", (int64_t)atomic_load(&c->begun));
    put_recent(c);
}

static void put_tags(const sw_watch_pair_t *p)
{
    sw_json_begin("latest", '[');
    for (int t = 0; t < SW_WATCH_TAGS; t++)
        if (p->latest[t] >= 0)
            sw_json_number(NULL, p->latest[t]);
    sw_json_end();
}

static void put_pair(const sw_watch_pair_t *p)
{
    put_row("comm", p->comm);
    put_rank("peer", p->peer);
    sw_json_text("tag_sum", sum_of(&p->tag_sum));
    sw_json_text("tag_squares", sum_of(&p->tag_squares));
    sw_json_bool("sends", p->sends);
    sw_json_number("messages", (int64_t)atomic_load(&p->messages));
    put_tags(p);
}

static void put_request(const sw_watch_request_t *r)
{
    static const char *const kinds[] = {"other", "sends", "receives",
                                        "collective", "other"};

    put_procedure("call", r->procedure);
    sw_json_text("kind", kinds[r->kind]);
    sw_json_bool("persistent", r->persistent);
    sw_json_bool("active", r->active);
    put_row("comm", r->comm);
    put_rank("peer", r->peer);
    put_rank("tag", r->tag);
    put_bytes(r->bytes);
    put_number(r->number);
    sw_json_number("partitions", r->partitions);
    sw_json_number("ready", r->ready);
    put_row("waited", r->waited > 0 ? (uint32_t)outer(r->waited) : 0);
    put_place(r->pc);
}

static void put_group(const char *name, const int32_t *ranks)
{
    sw_json_begin(name, '[');
    for (size_t i = 0; i < SW_WATCH_GROUP && ranks[i] != SW_WATCH_NOBODY; i++)
        put_rank(NULL, ranks[i]);
    sw_json_end();
}

static void put_window(const sw_watch_window_t *n)
{
    sw_json_number("row", n - w->windows);
    put_row("comm", n->comm);
    put_number(n->number);
    sw_json_number("fences", (int64_t)n->fences);
    sw_json_number("posts", n->posts);
    sw_json_number("waits", n->waits);
    sw_json_number("starts", n->starts);
    sw_json_number("completes", n->completes);
    put_group("origins", n->origins);
    sw_json_number("origin_count", n->origin_count);
    put_group("targets", n->targets);
    sw_json_number("target_count", n->target_count);
    put_rank("locked", n->locked);
    sw_json_number("locks", n->locks);
    sw_json_bool("exclusive", n->exclusive);
}

/* A list of the rows of a table, from this one on. `shown`: what holds for such
 * a row, r. */
#define PUT_TABLE(table, from, put, shown)                                 \
    sw_json_begin(#table, '[');                                            \
    for (size_t i = (from); i < sizeof w->table / sizeof *w->table; i++) { \
        const __typeof__(*w->table) *r = &w->table[i];                     \
        if (!sw_display_has(display, r, sizeof *r) || !(shown))            \
            continue;                                                      \
        sw_json_begin(NULL, '{');                                          \
        put(r);                                                            \
        sw_json_end();                                                     \
    }                                                                      \
    sw_json_end()

static void put_tables(void)
{
    PUT_TABLE(comms, 1, put_comm, !r->freed && r->size > 0);
    PUT_TABLE(pairs, 0, put_pair, r->comm && r->comm != SW_WATCH_NO_ROW);
    PUT_TABLE(requests, 0, put_request,
              r->kind != SW_WATCH_FREE && r->kind < SW_WATCH_GONE);
    PUT_TABLE(windows, 1, put_window, r->comm);
}

static void put_lost(const sw_watch_lost_t *l)
{
    sw_json_begin("lost", '{');
    sw_json_number("threads", (int64_t)atomic_load(&l->threads));
    sw_json_number("comms", (int64_t)atomic_load(&l->comms));
    sw_json_number("pairs", (int64_t)atomic_load(&l->pairs));
    sw_json_number("requests", (int64_t)atomic_load(&l->requests));
    sw_json_number("windows", (int64_t)atomic_load(&l->windows));
    sw_json_end();
}

/* The process ------------------------------------------------------------- */

static void put_header(char state)
{
    sw_json_number("pid", display->space->pid);
    sw_json_field("job", w->job, sizeof w->job);
    sw_json_number("rank", w->rank);
    sw_json_number("ranks", w->ranks);
    sw_json_number("node_ranks", w->node_ranks);
    sw_json_bool("spawned", false);
    sw_json_field("program", w->program, sizeof w->program);
    sw_json_field("flavour", w->flavour, sizeof w->flavour);
    sw_json_bool("accelerated", w->accelerated);
    sw_json_number("thread_level", w->thread_level);
    sw_json_bool("finalized", w->finalized);
    sw_json_bool("whole", w->whole);
    sw_json_real("started", since(w->started));
    put_state(state);
    sw_json_null("cpu");
    put_lost(&w->lost);
}

bool sw_report_process(sw_display_t *d, const sw_report_options_t *o)
{
    char state = sw_task_state(d->space->pid, d->space->pid);

    if (!state)
        return false;
    display = d;
    w = d->copy;
    options = o;
    sw_json_begin(NULL, '{');
    put_header(state);
    put_threads(state);
    put_tables();
    sw_json_end();
    return true;
}
