/*
 * names.c - see names.h. The text stays in memory, and what is named points
 * into it.
 */
#include "names.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MOST (1u << 24) /* numbers of records are dense */

static char *read_all(FILE *from)
{
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        n += fread(text + n, 1, room - n - 1, from);
        if (n + 1 < room)
            break;
        char *larger = realloc(text, room *= 2);
        if (!larger)
            free(text);
        text = larger;
    }
    if (text)
        text[n] = '\0';
    return text;
}

/* The next part of a line: ends it, and moves behind. */
static char *part(char **line)
{
    char *from = *line, *end = strchr(from, '\t');
    if (end)
        *end++ = '\0';
    *line = end ? end : from + strlen(from);
    return from;
}

static uint64_t number(char **line)
{
    return strtoull(part(line), NULL, 10);
}

static bool add_string(sw_names_t *n, char *line)
{
    if (!sw_grow(&n->strings, n->string_count, &n->string_room,
                 sizeof *n->strings))
        return false;
    if (!n->string_count)
        n->strings[n->string_count++] = "";
    if (!sw_grow(&n->strings, n->string_count, &n->string_room,
                 sizeof *n->strings))
        return false;
    n->strings[n->string_count++] = line;
    return true;
}

static bool add_rank(sw_names_t *n, char *line)
{
    if (!sw_grow(&n->ranks, n->rank_count, &n->rank_room, sizeof *n->ranks))
        return false;
    sw_rank_name_t *r = &n->ranks[n->rank_count++];
    *r = (sw_rank_name_t){.number = (uint32_t)number(&line)};
    r->file = (uint32_t)number(&line);
    r->start = number(&line);
    r->ticks = number(&line);
    r->ns = number(&line);
    r->offset = number(&line);
    r->name = part(&line);
    r->label = part(&line);
    return n->rank_count < 2 || n->ranks[n->rank_count - 2].number < r->number;
}

static bool add_communicator(sw_rank_name_t *r, const char *id)
{
    if (!sw_grow(&r->communicators, r->communicator_count,
                 &r->communicator_room, sizeof *r->communicators))
        return false;
    r->communicators[r->communicator_count++] = strtoull(id, NULL, 16);
    return true;
}

static bool add_thread(sw_rank_name_t *r, uint32_t number, const char *name)
{
    sw_thread_name_t *to = realloc(r->threads,
                                   (r->thread_count + 1) * sizeof *to);
    if (!to)
        return false;
    r->threads = to;
    to[r->thread_count++] = (sw_thread_name_t){.number = number, .name = name};
    return true;
}

static bool add_call(const sw_names_t *n, sw_thread_name_t *t, char *line)
{
    uint64_t record = number(&line);
    if (record >= RECORDS_MOST)
        return true;
    while (record >= t->call_room) {
        uint32_t before = t->call_room;
        if (!sw_grow(&t->calls, before, &t->call_room, sizeof *t->calls))
            return false;
        memset(t->calls + before, 0,
               (t->call_room - before) * sizeof *t->calls);
    }
    t->call_count = (uint32_t)sw_max(t->call_count, (size_t)record + 1);
    sw_call_name_t *c = &t->calls[record];
    c->name = (uint32_t)number(&line);
    c->category = (uint32_t)number(&line);
    c->details = line;
    return c->name && c->name < n->string_count && c->category &&
           c->category < n->string_count;
}

static bool add_line(sw_names_t *n, char *line)
{
    const char *what = part(&line);
    sw_rank_name_t *rank = n->rank_count ? &n->ranks[n->rank_count - 1] : NULL;
    if (!strcmp(what, "string"))
        return add_string(n, line);
    if (!strcmp(what, "rank"))
        return add_rank(n, line);
    if (!strcmp(what, "communicator") && rank)
        return add_communicator(rank, line);
    if (!strcmp(what, "thread") && rank) {
        uint32_t thread = (uint32_t)number(&line);
        return add_thread(rank, thread, line);
    }
    if (!strcmp(what, "call") && rank && rank->thread_count)
        return add_call(n, &rank->threads[rank->thread_count - 1], line);
    return false;
}

bool sw_names_read(sw_names_t *n, FILE *from)
{
    *n = (sw_names_t){.text = read_all(from)};
    for (char *line = n->text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (!end)
            return false;
        *end++ = '\0';
        if (!add_line(n, line))
            return false;
    }
    return n->text != NULL;
}

void sw_names_free(sw_names_t *n)
{
    for (uint32_t i = 0; i < n->rank_count; i++) {
        sw_rank_name_t *r = &n->ranks[i];
        for (uint32_t k = 0; k < r->thread_count; k++) {
            for (uint32_t c = 0; c < r->threads[k].call_count; c++)
                free(r->threads[k].calls[c].encoded);
            free(r->threads[k].calls);
            free(r->threads[k].told);
        }
        free(r->threads);
        free(r->communicators);
    }
    free(n->ranks);
    free(n->strings);
    free(n->text);
    *n = (sw_names_t){0};
}

sw_rank_name_t *sw_names_rank(const sw_names_t *n, uint32_t number)
{
    uint32_t low = 0, high = n->rank_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->ranks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->rank_count && n->ranks[low].number == number
               ? &n->ranks[low]
               : NULL;
}

sw_thread_name_t *sw_names_thread(sw_rank_name_t *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->thread_count; i++)
        if (r->threads[i].number == number)
            return &r->threads[i];
    return add_thread(r, number, "") ? &r->threads[r->thread_count - 1] : NULL;
}

/* `since` ticks as ns, to the nearest. */
static uint64_t scaled(const sw_rank_name_t *r, uint64_t since)
{
    unsigned __int128 product = (unsigned __int128)since * r->ns;
    return (uint64_t)((product + r->ticks / 2) / r->ticks);
}

uint64_t sw_names_time(const sw_rank_name_t *r, uint64_t ticks)
{
    bool before = ticks < r->start;
    uint64_t since = before ? r->start - ticks : ticks - r->start;
    uint64_t ns = r->ticks ? scaled(r, since) : since;
    if (before)
        return r->offset > ns ? r->offset - ns : 0;
    return r->offset + ns;
}
