/*
 * live.c - see live.h.
 *
 * The engine takes a rank's next operation only when it needs it. A rank runs
 * ahead until its feed is full. Then it would sleep, and with it the ranks that
 * wait for it in the host's own way. So the engine moves operations that it
 * does not need yet out of feeds that are more than half full (`kept`).
 *
 * Communicators cannot be told to the engine while it runs: a rank that
 * defines one is LATER until it stands still (live_wait.c).
 *
 * The engine does not ask how long a silent rank has computed so far. The
 * system tells how much processor time its process has used, but not for what:
 * the host's progress, helper threads and this library use some, too. A bound
 * that is too high makes wrong decisions; without one the engine only waits.
 */
#include "live_inside.h"

#include "node/base/grow.h"
#include "node/os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS 2000000000u

void sw_live_fail(sw_live_t *live, const char *format, uint32_t rank)
{
    if (!*live->error)
        snprintf(live->error, sizeof live->error, format, rank);
}

void sw_live_no_memory(sw_live_t *live)
{
    sw_live_fail(live, "no memory left for the engine of virtual time", 0);
}

sw_live_t *sw_live_new(sw_feeds_t *feeds)
{
    sw_live_t *live = calloc(1, sizeof *live);
    if (!live)
        return NULL;
    live->ranks = feeds->ranks;
    live->of = calloc(live->ranks, sizeof *live->of);
    live->defining = calloc(live->ranks, sizeof *live->defining);
    live->contexts = sw_defined_new(live->ranks);
    if (!live->of || !live->defining || !live->contexts ||
        !sw_taker_open(&live->taker, feeds)) {
        sw_live_free(live);
        return NULL;
    }
    live->looked = sw_os_now();
    live->patience = PATIENCE_NS;
    return live;
}

void sw_live_free(sw_live_t *live)
{
    if (!live)
        return;
    for (uint32_t r = 0; live->of && r < live->ranks; r++) {
        free(live->of[r].kept);
        free(live->of[r].bytes);
        free(live->of[r].which);
        free(live->of[r].listed);
        sw_lookup_free(&live->of[r].sections);
    }
    sw_taker_close(&live->taker);
    sw_defined_free(live->contexts);
    sw_sections_free(&live->sections);
    free(live->defining);
    free(live->of);
    free(live);
}

/* Entries, in their order ---------------------------------------------- */

static const sw_feed_entry_t *look(sw_live_t *live, uint32_t rank)
{
    sw_live_rank_t *r = &live->of[rank];
    if (sw_unlikely(r->first < r->count))
        return &r->kept[r->first];
    return sw_taker_look(&live->taker, rank);
}

static void take(sw_live_t *live, uint32_t rank)
{
    sw_live_rank_t *r = &live->of[rank];
    if (sw_likely(r->first == r->count))
        sw_taker_take(&live->taker, rank);
    else if (++r->first == r->count)
        r->first = r->count = 0;
}

/* Everything out of a feed. */
static bool keep(sw_live_t *live, uint32_t rank)
{
    sw_live_rank_t *r = &live->of[rank];
    size_t more = sw_taker_waiting(&live->taker, rank);
    if (r->first && r->count + more > r->room) {
        memmove(r->kept, r->kept + r->first,
                (r->count - r->first) * sizeof *r->kept);
        r->count -= r->first;
        r->first = 0;
    }
    if (r->count + more > r->room) {
        size_t room = sw_max(2 * r->room, r->count + more);
        sw_feed_entry_t *moved = realloc(r->kept, room * sizeof *moved);
        if (!moved)
            return false;
        r->kept = moved;
        r->room = room;
    }
    for (; more; more--) {
        r->kept[r->count++] = *sw_taker_look(&live->taker, rank);
        sw_taker_take(&live->taker, rank);
    }
    return true;
}

/* Answers -------------------------------------------------------------- */

/* The next part of an answer that is longer than one. */
static void give(sw_live_t *live, uint32_t rank)
{
    sw_live_rank_t *r = &live->of[rank];
    uint32_t here = (uint32_t)sw_min(r->answer.count - r->given,
                                     SW_FEED_PLACES);
    sw_taker_answer(&live->taker, rank, &r->answer, r->which + r->given, here);
    r->given += here;
    if (r->given == r->answer.count) {
        free(r->which);
        r->which = NULL;
    }
}

/* What was chosen from a list has been waited for. */
static void record_chosen(sw_live_t *live, uint32_t rank,
                          const sw_op_answer_t *answer)
{
    sw_live_rank_t *r = &live->of[rank];
    bool all = r->select == SW_TEST_ALL;
    uint32_t count = !all ? answer->count : answer->found ? r->list_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = all ? i : answer->which[i];
        sw_vop_t op = {.kind = SW_OP_WAIT, .peer = -1};
        if (at >= r->list_count)
            continue;
        op.request = r->listed[at];
        if (!sw_op_write(live->writer, rank, &op))
            sw_live_fail(live, "the operations cannot be written down", 0);
    }
    r->list_count = 0;
}

static void answer(void *of, uint32_t rank, const sw_op_answer_t *given)
{
    sw_live_t *live = of;
    sw_live_rank_t *r = &live->of[rank];
    if (given->thread < SW_FEED_THREADS && r->waits[given->thread]) {
        r->waits[given->thread] = false;
        live->asking--;
        sw_taker_answer_thread(&live->taker, rank, given->thread, given->clock);
        return;
    }
    if (!r->asked)
        return;
    r->answer = *given;
    if (!given->which)
        r->answer.count = 0;
    if (r->asked != SW_OP_CLOCK)
        r->polled = given->found ? 0 : r->polled + live->test;
    if (live->writer && r->asked == SW_OP_SELECT)
        record_chosen(live, rank, &r->answer);
    r->asked = 0;
    live->asking--;
    uint32_t count = r->answer.count;
    if (sw_likely(count <= SW_FEED_PLACES)) {
        sw_taker_answer(&live->taker, rank, &r->answer, given->which, count);
        return;
    }
    r->which = malloc(count * sizeof *r->which);
    if (!r->which) {
        sw_live_no_memory(live);
        return;
    }
    memcpy(r->which, given->which, count * sizeof *r->which);
    r->given = 0;
    give(live, rank);
}

void sw_live_rung(void *of, uint32_t rank)
{
    sw_live_t *live = of;
    if (live->of[rank].which && sw_taker_read(&live->taker, rank))
        give(live, rank);
    if (sw_taker_waiting(&live->taker, rank) >= SW_FEED_ENTRIES / 2 &&
        !keep(live, rank))
        sw_live_no_memory(live);
}

/* Operations ------------------------------------------------------------ */

/* A rank that polls until it finds something waits, and the record says so: the
 * next model says for how long. The record keeps the time of polls in vain. */
static bool record(sw_live_t *live, uint32_t rank, const sw_vop_t *op)
{
    sw_live_rank_t *r = &live->of[rank];
    if (sw_op_asks(op->kind) || op->kind == SW_OP_STUCK)
        return true;
    if (op->kind == SW_OP_COMPUTE && op->flags & SW_COMPUTE_POLLED) {
        r->polled += op->time;
        return true;
    }
    if (op->kind == SW_OP_COMPUTE)
        return sw_op_write(live->writer, rank, op);
    if (op->kind != SW_OP_LIST) {
        sw_vop_t polled = {.kind = SW_OP_COMPUTE,
                           .time = r->polled,
                           .flags = SW_COMPUTE_ASLEEP};
        bool good = !r->polled || sw_op_write(live->writer, rank, &polled);
        r->polled = 0;
        return good && sw_op_write(live->writer, rank, op);
    }
    if (!sw_grow(&r->listed, r->list_count, &r->list_room, sizeof *r->listed))
        return false;
    r->listed[r->list_count++] = op->request;
    return true;
}

/* What the engine may rely upon. */
static bool possible(const sw_live_t *live, const sw_vop_t *op)
{
    bool rank = op->peer >= 0 && (uint32_t)op->peer < live->ranks;
    switch (op->kind) {
    case SW_OP_COMPUTE: return op->time >= 0 && op->flags <= SW_COMPUTE_POLLED;
    case SW_OP_SEND:
    case SW_OP_MATCHED: return rank;
    case SW_OP_RECV:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE: return rank || op->peer == SW_OP_ANY;
    case SW_OP_COLLECTIVE:
        return op->what < SW_COLLECTIVE_COUNT && (rank || op->peer == -1);
    case SW_OP_SELECT: return op->what <= SW_TEST_SOME;
    case SW_OP_THREAD:
        return op->what <= SW_THREAD_ENDS && op->tag >= 0 &&
               op->request < SW_FEED_THREADS;
    case SW_OP_WINDOW:
        return op->what < SW_WINDOW_COUNT && (rank || op->peer == -1);
    default: return op->kind >= SW_OP_COMPUTE && op->kind <= SW_OP_STUCK;
    }
}

/* A section is told, with its name. */
static void name_section(sw_live_t *live, sw_live_rank_t *r)
{
    uint32_t before = live->sections.count;
    uint32_t number = sw_sections_add(&live->sections, r->bytes);
    uint64_t *to = number ? sw_lookup_put(&r->sections, r->told.number) : NULL;
    if (number && !to)
        sw_live_no_memory(live);
    else if (number)
        *to = number;
    live->sections_lost |= !number;
    if (to && live->sections.count > before && live->writer &&
        !sw_op_write_section(live->writer, number, r->bytes))
        sw_live_fail(live, "the operations cannot be written down", 0);
}

/* A communicator or a section begins. */
static void hear_head(sw_live_t *live, uint32_t rank,
                      const sw_feed_entry_t *entry)
{
    sw_live_rank_t *r = &live->of[rank];
    uint32_t bytes = entry->told.bytes, most = SW_FEED_NAME;
    r->what = entry->what;
    r->told = entry->told;
    r->got = 0;
    free(r->bytes);
    r->bytes = NULL;
    if (entry->what == SW_ENTRY_CONTEXT)
        most = live->ranks * (uint32_t)sizeof(uint32_t);
    if (bytes > most || (!bytes && entry->what == SW_ENTRY_CONTEXT))
        sw_live_fail(live,
                     entry->what == SW_ENTRY_CONTEXT
                         ? "rank %u has a communicator of an impossible size"
                         : "rank %u's feed is damaged",
                     rank);
    else if (!(r->bytes = calloc(1, (size_t)bytes + 1)))
        sw_live_no_memory(live);
}

/* A part of a communicator or of a section. */
static void hear(sw_live_t *live, uint32_t rank, const sw_feed_entry_t *entry)
{
    sw_live_rank_t *r = &live->of[rank];
    uint32_t n = entry->what == SW_ENTRY_MORE ? entry->n : 0;
    if (entry->what != SW_ENTRY_MORE)
        hear_head(live, rank, entry);
    if (*live->error)
        return;
    if (!r->bytes || n > SW_FEED_BYTES || n > r->told.bytes - r->got) {
        sw_live_fail(live, "rank %u's feed is damaged", rank);
        return;
    }
    memcpy(r->bytes + r->got, entry->byte, n);
    r->got += n;
    if (r->got < r->told.bytes)
        return;
    if (r->what == SW_ENTRY_SECTION) {
        name_section(live, r);
    } else {
        r->defined = true;
        live->defining[live->defining_count++] = rank;
    }
}

/* Has it ended, so that no more comes than what is there? */
bool sw_live_has_ended(sw_live_t *live, uint32_t rank)
{
    sw_live_rank_t *r = &live->of[rank];
    if (r->end == SW_LIVE_RUNS)
        switch (sw_taker_state(&live->taker, rank)) {
        case SW_FEED_ENDED_WELL: r->end = SW_LIVE_WELL; break;
        case SW_FEED_ENDED: r->end = SW_LIVE_EARLY; break;
        }
    return r->end != SW_LIVE_RUNS;
}

static sw_source_state_t next(void *of, uint32_t rank, sw_vop_t *op)
{
    sw_live_t *live = of;
    sw_live_rank_t *r = &live->of[rank];
    /* A run may be long; full feeds are not to wait for its end. */
    if (sw_unlikely(++live->calls % 1024 == 0) && sw_taker_rung(&live->taker))
        sw_taker_news(&live->taker, sw_live_rung, live);
    for (;;) {
        if (sw_unlikely(r->asked || r->defined || *live->error))
            return SW_SOURCE_LATER;
        const sw_feed_entry_t *entry = look(live, rank);
        if (!entry) {
            bool over = sw_live_has_ended(live, rank);
            entry = look(live, rank);
            if (!entry && over)
                return SW_SOURCE_END;
            if (!entry && sw_taker_arm(&live->taker, rank, live->soon))
                return SW_SOURCE_LATER;
            continue;
        }
        if (sw_likely(entry->what == SW_ENTRY_OP)) {
            *op = entry->op;
            if (op->kind != SW_OP_CLOCK || !(op->flags & SW_CLOCK_PAUSE))
                r->held = op->kind == SW_OP_STUCK &&
                          op->flags & SW_STUCK_PERHAPS;
            live->taken += op->kind != SW_OP_COMPUTE ||
                           !(op->flags & SW_COMPUTE_ASLEEP);
            break;
        }
        hear(live, rank, entry);
        take(live, rank);
        live->taken++;
    }
    take(live, rank);
    if (sw_unlikely(!possible(live, op))) {
        sw_live_fail(live, "rank %u has put an operation that cannot be", rank);
        return SW_SOURCE_LATER;
    }
    if (sw_op_has_context(op->kind)) {
        op->context = sw_defined_number(live->contexts, rank, op->context);
        if (sw_unlikely(op->context == SW_DEFINED_NONE)) {
            sw_live_fail(live,
                         "rank %u has used a communicator that it "
                         "has not defined",
                         rank);
            return SW_SOURCE_LATER;
        }
    }
    if (op->kind == SW_OP_SECTION && op->bytes) {
        const uint64_t *number = sw_lookup_get(&r->sections, op->bytes);
        op->bytes = number ? *number : 0;
    }
    if (live->writer && !record(live, rank, op))
        sw_live_fail(live, "the operations cannot be written down", 0);
    if (op->kind == SW_OP_THREAD && op->what == SW_THREAD_GOES) {
        r->thread = op->request;
        r->tid[r->thread] = op->peer;
    }
    if (op->kind == SW_OP_CLOCK && (op->flags & SW_CLOCK_THREAD)) {
        r->waits[r->thread] = true;
        live->asking++;
    } else if (sw_op_asks(op->kind)) {
        r->asked = op->kind;
        r->select = op->what;
        live->asking++;
    }
    return SW_SOURCE_OP;
}

const sw_sections_t *sw_live_sections(const sw_live_t *live)
{
    return &live->sections;
}

bool sw_live_sections_lost(const sw_live_t *live)
{
    return live->sections_lost;
}

const char *sw_live_error(const sw_live_t *live)
{
    return *live->error ? live->error : NULL;
}

sw_live_end_t sw_live_ended(const sw_live_t *live, uint32_t rank)
{
    return (sw_live_end_t)live->of[rank].end;
}

void sw_live_over(sw_live_t *live)
{
    sw_taker_over(&live->taker);
}

void sw_live_written(sw_live_t *live)
{
    sw_feeds_head_t *head = live->taker.feeds->head;
    atomic_store(&head->result, 1);
    sw_os_futex_wake_all(&head->result);
}

void sw_live_source(sw_live_t *live, sw_op_source_t *source)
{
    *source = (sw_op_source_t){.of = live, .next = next, .answer = answer};
}

void sw_live_record(sw_live_t *live, sw_op_writer_t *writer, sw_ps_t test)
{
    live->writer = writer;
    live->test = test;
}
