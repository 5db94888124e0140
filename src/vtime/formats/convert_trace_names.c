/*
 * convert_trace_names.c - what the numbers of a trace mean; see
 * convert_trace.h.
 *
 * NAMES is the text of src/trace/names.h, with meanings of its own;
 * straightway/whatif/operations.py writes it:
 *
 *     string "section N NAME"     a region of the program
 *     string "context N RANGES"   the members of context N, as first-last,...
 *     string "groups N RANGES RANGES"     it is between these groups
 *     string "near RANK I N IN,... OUT,..."   the neighbours of a rank in the
 *                                 I-th communicator of its list, as ranks or
 *                                 -1; their messages are on context N. "-"
 *                                 where there are none
 *     rank's NAME                 ns that recording one call took
 *     communicator ID             the number of its context and 1, 0: unknown
 *     call's NAME                 what the call is: a name of op.h's
 *                                 collectives, or one of `kinds` below
 *     call's DETAIL               its root (-1: none), a space, its
 *                                 communicator's number in the rank's list, a
 *                                 space, and its section (0: none)
 */
#include "convert_trace.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[SW_TRACED_COLLECTIVE] = {
    "compute",  "message",     "ssend", "bsend",      "give",   "start",
    "poll",     "some",        "make",  "near",       "window", "allocated",
    "free",     "fence",       "put",   "accumulate", "get",    "fetch",
    "flush",    "flush-local", "lock",  "unlock",     "post",   "begin",
    "complete", "exposed"};

static unsigned char kind_of(const char *name)
{
    for (unsigned i = 0; i < SW_TRACED_COLLECTIVE; i++)
        if (!strcmp(name, kinds[i]))
            return (unsigned char)i;
    for (unsigned i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (!strcmp(name, sw_collective_names[i]))
            return (unsigned char)(SW_TRACED_COLLECTIVE + i);
    return SW_TRACED_COMPUTE;
}

bool sw_traced_read_section(sw_convert_trace_t *c, const char *text)
{
    char *name;
    unsigned long number = strtoul(text, &name, 10);
    return *name == ' ' && number <= SW_SECTION_MOST &&
           sw_sections_set(&c->sections, (uint32_t)number, name + 1) &&
           sw_op_write_section(c->writer, (uint32_t)number, name + 1);
}

bool sw_traced_read_names(sw_convert_trace_t *c)
{
    static const struct {
        const char *word;
        bool (*read)(sw_convert_trace_t *c, const char *text);
    } items[] = {{"section ", sw_traced_read_section},
                 {"context ", sw_traced_read_context},
                 {"groups ", sw_traced_read_groups},
                 {"near ", sw_traced_read_near}};
    c->kinds = calloc((size_t)c->names->string_count + 1, 1);
    c->memory = c->kinds != NULL;
    for (uint32_t i = 1; c->memory && i < c->names->string_count; i++) {
        const char *text = c->names->strings[i];
        c->kinds[i] = kind_of(text);
        for (unsigned k = 0; k < sizeof items / sizeof *items; k++) {
            size_t n = strlen(items[k].word);
            if (!strncmp(text, items[k].word, n) && !items[k].read(c, text + n))
                return c->memory &&
                       sw_convert_fail(
                           "the names: \"%s\" is not as it should be", text);
        }
    }
    return c->memory;
}

bool sw_traced_find_ranks(sw_convert_trace_t *c)
{
    sw_names_t *names = c->names;
    c->ranks = calloc((size_t)names->rank_count + 1, sizeof *c->ranks);
    c->memory = c->ranks != NULL;
    for (uint32_t i = 0; c->memory && i < names->rank_count; i++) {
        sw_rank_name_t *r = &names->ranks[i];
        sw_traced_rank_t *rank = &c->ranks[i];
        uint64_t cost = strtoull(r->name, NULL, 10);
        *rank = (sw_traced_rank_t){.name = r};
        rank->cost = r->ns ? (uint64_t)((unsigned __int128)cost * r->ticks /
                                        r->ns)
                           : cost;
        rank->threads = calloc((size_t)r->thread_count + 1,
                               sizeof *rank->threads);
        c->memory = rank->threads != NULL;
    }
    return c->memory;
}
