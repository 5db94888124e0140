/*
 * convert_trace.c - traces into operations.
 *
 * A trace (docs/capture-format.md, TRAC) tells what each call of a rank did.
 * The converter takes the time of MPI out of it; operations remain:
 *
 *   - Between calls a rank computes; so it does in calls that communicate with
 *     no rank (files, packing, types). The converter subtracts what recording
 *     took.
 *   - Messages, their requests and what ended them are as they were. Receives
 *     with wildcards become receives of what they took: so a replay keeps the
 *     order that the run had. Of cancelled receives nothing is left.
 *   - Tests and probes that found nothing were waiting: neither their time
 *     counts, nor the gap between two that follow each other at once.
 *   - Collectives are what they were, persistent ones, too; among neighbours
 *     they are messages, between groups collectives of those who take part
 *     (convert_trace_collectives.c).
 *   - One-sided communication is what it was (convert_trace_windows.c). In
 *     traces of older versions, which tell no window, a fence waits for all
 *     members, with the bytes of all accesses before it; of other one-sided
 *     synchronisation nothing is left.
 *
 * A trace says in which region each call was, not where that region began. So
 * the computation before a call counts as its region's, and that behind the
 * last call as outside of all.
 *
 * The converter puts the calls of several threads on the rank's one line. Their
 * sends, except synchronous ones, are complete at once, whatever the model: on
 * one line no other thread could go on while one waits for a receiver.
 *
 * The converter goes through a trace twice: for what became of receives, and to
 * write.
 */
#include "convert_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool wanted(void *of, uint32_t number)
{
    const sw_convert_trace_t *c = of;
    const sw_rank_name_t *rank = sw_names_rank(c->names, number);
    return rank && rank->file == c->file;
}

static bool go_through(sw_convert_trace_t *c, char **files, bool first_pass)
{
    for (c->file = 0; files[c->file]; c->file++) {
        sw_trace_reader_t reader;
        int error = sw_trace_open(&reader, files[c->file]);
        reader.wanted = wanted;
        reader.wanted_of = c;
        while (!error && c->memory && sw_trace_block(&reader)) {
            sw_rank_name_t *r = sw_names_rank(c->names, reader.rank);
            sw_traced_rank_t *rank = &c->ranks[r - c->names->ranks];
            uint32_t which = 0;
            while (which < r->thread_count &&
                   r->threads[which].number != reader.thread)
                which++;
            const sw_thread_name_t *t = which < r->thread_count
                                            ? &r->threads[which]
                                            : NULL;
            while (c->memory && sw_trace_event(&reader)) {
                const sw_call_name_t *name = t ? sw_names_call(
                                                     t, reader.event.record)
                                               : NULL;
                if (first_pass)
                    sw_traced_foresee(c, rank, &reader.event,
                                      name ? c->kinds[name->name]
                                           : SW_TRACED_MESSAGE);
                else
                    sw_traced_call(c, rank, &rank->threads[which],
                                   reader.thread == 0, &reader.event, name);
            }
        }
        error = error ? error : reader.error;
        if (!first_pass)
            c->done->damaged += reader.damaged;
        sw_trace_close(&reader);
        if (error)
            return sw_convert_fail("%s: %s", files[c->file],
                                   error == EINVAL ? "no capture file"
                                                   : strerror(error));
    }
    return c->memory;
}

bool sw_trace_to_ops(const char *out, char **files, FILE *from,
                     sw_converted_t *done)
{
    sw_names_t names;
    sw_convert_trace_t c = {.names = &names, .done = done, .memory = true};
    if (!sw_names_read(&names, from) || !names.rank_count) {
        sw_names_free(&names);
        return sw_convert_fail("the names of the trace cannot be read");
    }
    c.world = names.ranks[names.rank_count - 1].number + 1;
    for (uint32_t i = 1; i < names.string_count; i++)
        if (!strncmp(names.strings[i], "world ", 6))
            c.world = sw_max(c.world,
                             (uint32_t)strtoul(names.strings[i] + 6, NULL, 10));
    c.writer = sw_convert_writer(out, c.world, "from a trace");
    bool good = c.writer && sw_traced_find_ranks(&c) &&
                sw_traced_read_names(&c) && go_through(&c, files, true) &&
                go_through(&c, files, false);
    for (uint32_t i = 0; good && i < names.rank_count && c.memory; i++)
        sw_traced_finish(&c, &c.ranks[i]);
    if (c.writer && !c.memory)
        good = sw_convert_fail("%s: no memory, or no room on the disk", out);
    good = sw_convert_close(c.writer, good, out);
    for (uint32_t i = 0; c.ranks && i < names.rank_count; i++) {
        free(c.ranks[i].threads);
        free(c.ranks[i].free_requests);
        free(c.ranks[i].items);
    }
    free(c.ranks);
    free(c.kinds);
    sw_sections_free(&c.sections);
    sw_lookup_free(&c.posted);
    sw_lookup_free(&c.fates);
    sw_lookup_free(&c.ways);
    sw_lookup_free(&c.requests);
    sw_lookup_free(&c.beside);
    sw_traced_contexts_free(&c);
    sw_names_free(&names);
    return good;
}
