/*
 * ways.c - see ways.h.
 */
#include "ways.h"

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
    sw_ways_table_t *table;
    const sw_ways_key_t *key;
    sw_ways_entry_t *open; /* the entry whose lines are read, or NULL */
    bool begun;            /* an entry has begun, ours or not */
    bool near;             /* ... of one node */
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

/* machine=5f0c1a22, or nothing: an empty word. */
static bool machine_of(word_t word, word_t *to)
{
    static const char name[] = "machine=";
    size_t n = sizeof name - 1;
    *to = (word_t){word.at, 0};
    if (!word.length)
        return true;
    if (word.length <= n || strncmp(word.at, name, n))
        return false;
    *to = (word_t){word.at + n, word.length - n};
    return true;
}

static sw_ways_entry_t *add_entry(sw_ways_table_t *t, int nodes, int ranks)
{
    sw_ways_entry_t *grown = realloc(t->entry,
                                     ((size_t)t->entries + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    t->entry = grown;
    sw_ways_entry_t *e = &grown[t->entries++];
    memset(e, 0, sizeof *e); /* the hash has each byte */
    e->nodes = nodes;
    e->ranks = ranks;
    memset(e->form, SW_WAY_UNSAID, sizeof e->form);
    for (int i = 0; i < SW_WAYS_SETTING_COUNT; i++)
        e->setting[i] = SW_WAYS_NO_SETTING;
    return e;
}

static const char *read_entry(reading_t *r, word_t line)
{
    static const char form[] = "an entry is [HOST TRANSPORT nodes=N ranks=N], "
                               "or with machine=NAME after them";
    int nodes, ranks;
    if (line.at[line.length - 1] != ']')
        return form;
    line = (word_t){line.at + 1, line.length - 2};
    word_t host = next_word(&line), transport = next_word(&line);
    word_t first = next_word(&line), second = next_word(&line);
    word_t machine, third = next_word(&line);
    if (!transport.length || !value_of(first, "nodes=", &nodes) ||
        !value_of(second, "ranks=", &ranks) || !machine_of(third, &machine) ||
        next_word(&line).length)
        return form;
    r->begun = true;
    r->open = NULL;
    r->near = word_is(transport, SW_WAYS_SHM);
    if (r->near && (nodes != 1 || !machine.length))
        return "an entry of " SW_WAYS_SHM " has nodes=1 and machine=NAME";
    if (!word_is(host, r->key->host) ||
        !word_is(transport, r->key->transport) ||
        !word_is(machine, r->key->machine ? r->key->machine : ""))
        return NULL;
    sw_ways_table_t *t = r->table;
    for (int i = 0; i < t->entries; i++)
        if (t->entry[i].nodes == nodes && t->entry[i].ranks == ranks)
            return "remove this entry, or the one before with the same words";
    r->open = add_entry(t, nodes, ranks);
    return r->open ? NULL : "give the process memory for the entries";
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

/* allreduce, iallreduce or allreduce_init: the collective, and its form. */
static int formed_of(word_t word, int *form)
{
    static const char init[] = "_init";
    size_t n = sizeof init - 1;
    int id = collective_of(word);
    *form = 0;
    if (id < SW_COLL_COUNT || !word.length)
        return id;
    if (word.length > n && !strncasecmp(word.at + word.length - n, init, n)) {
        *form = 2;
        return collective_of((word_t){word.at, word.length - n});
    }
    if (*word.at != 'i' && *word.at != 'I')
        return id;
    *form = 1;
    return collective_of((word_t){word.at + 1, word.length - 1});
}

static int setting_of(word_t word)
{
    static const char *const names[] = {
#define X(field, NAME) #field,
        SW_WAYS_SETTINGS(X)
#undef X
    };
    int i = 0;
    while (i < SW_WAYS_SETTING_COUNT && !word_is(word, names[i]))
        i++;
    return i;
}

/* eager_max 16384 */
static const char *read_setting(reading_t *r, int setting, word_t line)
{
    size_t bytes;
    if (!number_of(next_word(&line), &bytes) || next_word(&line).length)
        return "give a number of bytes after the setting";
    if (!r->open)
        return NULL;
    uint64_t *to = &r->open->setting[setting];
    if (*to != SW_WAYS_NO_SETTING)
        return "give each setting one line in an entry";
    *to = bytes;
    return NULL;
}

static sw_way_t way_of(word_t word)
{
    static const char *const names[] = {"host", "leaders", "lanes", "ours"};
    int way = 0;
    while (way < SW_WAY_COUNT && !word_is(word, names[way]))
        way++;
    return (sw_way_t)way;
}

/* 65536:lanes */
static bool step_of(const reading_t *r, word_t word, size_t *bytes,
                    sw_way_t *way)
{
    const char *colon = memchr(word.at, ':', word.length);
    if (!colon)
        return false;
    word_t size = {word.at, (size_t)(colon - word.at)};
    word_t name = {colon + 1, word.length - size.length - 1};
    *way = way_of(name);
    bool fits = *way == SW_WAY_HOST ||
                (r->near ? *way == SW_WAY_OURS : *way < SW_WAY_OURS);
    return number_of(size, bytes) && fits;
}

/* The smallest size of a class. */
static size_t class_bytes(int class)
{
    return class ? (size_t)1 << (class - 1) : 0;
}

static const char *read_steps(const reading_t *r, word_t line, uint8_t *row)
{
    size_t before = 0, bytes;
    sw_way_t way;
    bool first = true;
    for (word_t word; (word = next_word(&line)).length; first = false) {
        if (!step_of(r, word, &bytes, &way))
            return r->near ? "give BYTES:WAY, with a WAY of host or ours"
                           : "give BYTES:WAY, with a WAY of host, leaders or "
                             "lanes";
        if (first ? bytes != 0 : bytes <= before)
            return "the first size is 0, and each is larger than that before";
        before = bytes;
        for (int c = 0; row && c < SW_WAYS_SIZES; c++)
            if (class_bytes(c) >= bytes)
                row[c] = (uint8_t)way;
    }
    return first ? "give the ways after the collective, such as 0:host" : NULL;
}

static const char *read_row(reading_t *r, word_t line)
{
    word_t name = next_word(&line);
    int form, id = formed_of(name, &form), setting = setting_of(name);
    if (id == SW_COLL_COUNT && setting == SW_WAYS_SETTING_COUNT)
        return "a line begins with [, # or a collective, such as allreduce";
    if (!r->begun)
        return "begin an entry before it: [HOST TRANSPORT nodes=N ranks=N]";
    if (!r->near && (form || id == SW_COLL_COUNT))
        return "only entries of " SW_WAYS_SHM " have such a line";
    if (id == SW_COLL_COUNT)
        return read_setting(r, setting, line);
    uint8_t *row = r->open ? r->open->form[form].way[id] : NULL;
    if (row && *row != SW_WAY_UNSAID)
        return "give each collective one line in an entry";
    return read_steps(r, line, row);
}

static const char *read_line(reading_t *r, word_t line, int number)
{
    const char *hash = memchr(line.at, '#', line.length);
    if (number == 1)
        return word_is(line, HEAD) ? NULL
                                   : "the first line must be \"" HEAD
                                     "\"; remove the file, and write it anew "
                                     "with straightway tune";
    if (hash)
        line.length = (size_t)(hash - line.at);
    while (line.length && strchr(BLANK, line.at[line.length - 1]))
        line.length--;
    word_t rest = line;
    if (!next_word(&rest).length)
        return NULL;
    return *line.at == '[' ? read_entry(r, line) : read_row(r, line);
}

/* FNV-1a, over what members must have alike. */
static uint64_t hash_of(const sw_ways_table_t *t)
{
    uint64_t hash = 14695981039346656037u;
    const unsigned char *at = (const unsigned char *)t->entry;
    for (size_t i = 0; i < (size_t)t->entries * sizeof *t->entry; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return !t->entries ? 0 : hash ? hash : 1;
}

bool sw_ways_read(sw_ways_table_t *to, const char *text,
                  const sw_ways_key_t *key, sw_ways_fault_t *fault)
{
    *to = (sw_ways_table_t){0};
    *fault = (sw_ways_fault_t){0};
    reading_t r = {.table = to, .key = key};
    do {
        const char *end = strchr(text, '\n');
        word_t line = {text, end ? (size_t)(end - text) : strlen(text)};
        fault->fix = read_line(&r, line, ++fault->line);
        text = end ? end + 1 : line.at + line.length;
    } while (!fault->fix && *text);
    if (fault->fix) {
        sw_ways_drop(to);
        return false;
    }
    to->hash = hash_of(to);
    return true;
}

void sw_ways_drop(sw_ways_table_t *table)
{
    free(table->entry);
    *table = (sw_ways_table_t){0};
}

const sw_ways_entry_t *sw_ways_find(const sw_ways_table_t *table, int nodes,
                                    int ranks)
{
    const sw_ways_entry_t *best = NULL;
    for (int i = 0; i < table->entries; i++) {
        const sw_ways_entry_t *e = &table->entry[i];
        if (e->nodes <= nodes && e->ranks <= ranks &&
            (!best || e->nodes > best->nodes ||
             (e->nodes == best->nodes && e->ranks > best->ranks)))
            best = e;
    }
    return best;
}

const sw_ways_entry_t *sw_ways_find_near(const sw_ways_table_t *table,
                                         int ranks)
{
    for (int i = 0; i < table->entries; i++)
        if (table->entry[i].ranks == ranks)
            return &table->entry[i];
    return NULL;
}
