/*
 * span_ways.c - see span_ways.h.
 */
#include "span_ways.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD "straightway ways 1"
#define BLANK " \t\r"
#define MOST_NUMBER ((size_t)1 << 48)

/* A part of a line. */
typedef struct {
    const char *at;
    size_t length;
} word_t;

typedef struct {
    sw_span_table_t *table;
    const char *host, *transport;
    sw_span_entry_t *open; /* the entry whose lines are read, or NULL */
    bool begun;            /* an entry has begun, ours or not */
} reading_t;

static bool word_is(word_t word, const char *text)
{
    return strlen(text) == word.length &&
           !strncasecmp(word.at, text, word.length);
}

/* Takes the next word from a line; its length is 0 at the end. */
static word_t next_word(word_t *line)
{
    size_t blank = 0, length = 0;
    while (blank < line->length && strchr(BLANK, line->at[blank]))
        blank++;
    line->at += blank;
    line->length -= blank;
    while (length < line->length && !strchr(BLANK, line->at[length]))
        length++;
    word_t word = {line->at, length};
    line->at += length;
    line->length -= length;
    return word;
}

/* Takes a number that must fill the word up to `end`, or to the word's end. */
static bool number_of(word_t word, size_t *to)
{
    size_t n = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.at[i] < '0' || word.at[i] > '9' || n > MOST_NUMBER)
            return false;
        n = 10 * n + (size_t)(word.at[i] - '0');
    }
    *to = n;
    return word.length != 0;
}

/* nodes=2 */
static bool value_of(word_t word, const char *name, int *to)
{
    size_t n = strlen(name), value;
    if (word.length <= n || strncmp(word.at, name, n) ||
        !number_of((word_t){word.at + n, word.length - n}, &value) || !value ||
        value > INT32_MAX)
        return false;
    *to = (int)value;
    return true;
}

static const char *read_entry(reading_t *r, word_t line)
{
    static const char form[] = "an entry is [HOST TRANSPORT nodes=N ranks=N]";
    int nodes, ranks;
    if (line.at[line.length - 1] != ']')
        return form;
    line = (word_t){line.at + 1, line.length - 2};
    word_t host = next_word(&line), transport = next_word(&line);
    word_t first = next_word(&line), second = next_word(&line);
    if (!transport.length || !value_of(first, "nodes=", &nodes) ||
        !value_of(second, "ranks=", &ranks) || next_word(&line).length)
        return form;
    r->begun = true;
    r->open = NULL;
    if (!word_is(host, r->host) || !word_is(transport, r->transport))
        return NULL;
    sw_span_table_t *t = r->table;
    for (int i = 0; i < t->entries; i++)
        if (t->entry[i].nodes == nodes && t->entry[i].ranks == ranks)
            return "remove this entry, or the one before with the same words";
    sw_span_entry_t *grown = realloc(t->entry,
                                     ((size_t)t->entries + 1) * sizeof *grown);
    if (!grown)
        return "give the process memory for the entries";
    t->entry = grown;
    r->open = &grown[t->entries++];
    *r->open = (sw_span_entry_t){.nodes = nodes, .ranks = ranks};
    memset(&r->open->ways, SW_WAY_UNSAID, sizeof r->open->ways);
    return NULL;
}

static int collective_of(word_t word)
{
    static const char *const names[] = {
#define SW_COLLECTIVE(NUMBER, NAME, ...) [NUMBER] = #NAME,
#include "collectives.inc"
    };
    int id = 0;
    while (id < SW_COLL_COUNT && !word_is(word, names[id]))
        id++;
    return id;
}

static sw_way_t way_of(word_t word)
{
    static const char *const names[] = {"host", "leaders", "lanes"};
    int way = 0;
    while (way < SW_WAY_COUNT && !word_is(word, names[way]))
        way++;
    return (sw_way_t)way;
}

/* 65536:lanes */
static bool step_of(word_t word, size_t *bytes, sw_way_t *way)
{
    const char *colon = memchr(word.at, ':', word.length);
    if (!colon)
        return false;
    word_t size = {word.at, (size_t)(colon - word.at)};
    word_t name = {colon + 1, word.length - size.length - 1};
    *way = way_of(name);
    return number_of(size, bytes) && *way < SW_WAY_COUNT;
}

/* The smallest size of a class. */
static size_t class_bytes(int class)
{
    return class ? (size_t)1 << (class - 1) : 0;
}

static const char *read_collective(reading_t *r, word_t line)
{
    int id = collective_of(next_word(&line));
    if (id == SW_COLL_COUNT)
        return "a line begins with [, # or a collective, such as allreduce";
    if (!r->begun)
        return "begin an entry before it: [HOST TRANSPORT nodes=N ranks=N]";
    uint8_t *row = r->open ? r->open->ways.way[id] : NULL;
    if (row && *row != SW_WAY_UNSAID)
        return "give each collective one line in an entry";
    size_t before = 0, bytes;
    sw_way_t way;
    bool first = true;
    for (word_t word; (word = next_word(&line)).length; first = false) {
        if (!step_of(word, &bytes, &way))
            return "give BYTES:WAY, with a WAY of host, leaders or lanes";
        if (first ? bytes != 0 : bytes <= before)
            return "the first size is 0, and each is larger than that before";
        before = bytes;
        for (int c = 0; row && c < SW_SPAN_SIZES; c++)
            if (class_bytes(c) >= bytes)
                row[c] = (uint8_t)way;
    }
    return first ? "give the ways after the collective, such as 0:leaders"
                 : NULL;
}

static const char *read_line(reading_t *r, word_t line, int number)
{
    const char *hash = memchr(line.at, '#', line.length);
    if (number == 1)
        return word_is(line, HEAD) ? NULL
                                   : "the first line must be \"" HEAD
                                     "\"; write the file anew with "
                                     "straightway bench collectives --tune";
    if (hash)
        line.length = (size_t)(hash - line.at);
    while (line.length && strchr(BLANK, line.at[line.length - 1]))
        line.length--;
    word_t rest = line;
    if (!next_word(&rest).length)
        return NULL;
    return *line.at == '[' ? read_entry(r, line) : read_collective(r, line);
}

/* FNV-1a, over what members must have alike. */
static uint64_t hash_of(const sw_span_table_t *t)
{
    uint64_t hash = 14695981039346656037u;
    const unsigned char *at = (const unsigned char *)t->entry;
    for (size_t i = 0; i < (size_t)t->entries * sizeof *t->entry; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return !t->entries ? 0 : hash ? hash : 1;
}

bool sw_span_table_read(sw_span_table_t *to, const char *text, const char *host,
                        const char *transport, sw_span_fault_t *fault)
{
    *to = (sw_span_table_t){0};
    *fault = (sw_span_fault_t){0};
    reading_t r = {.table = to, .host = host, .transport = transport};
    do {
        const char *end = strchr(text, '\n');
        word_t line = {text, end ? (size_t)(end - text) : strlen(text)};
        fault->fix = read_line(&r, line, ++fault->line);
        text = end ? end + 1 : line.at + line.length;
    } while (!fault->fix && *text);
    if (fault->fix) {
        sw_span_table_drop(to);
        return false;
    }
    to->hash = hash_of(to);
    return true;
}

void sw_span_table_drop(sw_span_table_t *table)
{
    free(table->entry);
    *table = (sw_span_table_t){0};
}

const sw_span_entry_t *sw_span_table_find(const sw_span_table_t *table,
                                          int nodes, int ranks)
{
    const sw_span_entry_t *best = NULL;
    for (int i = 0; i < table->entries; i++) {
        const sw_span_entry_t *e = &table->entry[i];
        if (e->nodes <= nodes && e->ranks <= ranks &&
            (!best || e->nodes > best->nodes ||
             (e->nodes == best->nodes && e->ranks > best->ranks)))
            best = e;
    }
    return best;
}
