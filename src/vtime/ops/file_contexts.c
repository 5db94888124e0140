/*
 * file_contexts.c - the contexts of a file of operations, and the names of its
 * sections; see opfile_format.h.
 *
 * Members come as runs, and stay so: a context of all ranks takes no more than
 * one of two.
 */
#include "file_reader.h"

#include "node/base/grow.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const sw_op_context_t *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Behind a number and no members. */
static bool read_section(sw_op_file_t *f, sw_cursor_t *c, uint64_t number)
{
    char name[SW_SECTION_NAME];
    uint64_t n = sw_varint(c);
    if (c->bad || number > SW_SECTION_MOST || n >= sizeof name ||
        n > (uint64_t)(c->end - c->at))
        return false;
    memcpy(name, c->at, n);
    name[n] = '\0';
    c->at += n;
    return strlen(name) == n &&
           sw_sections_set(&f->sections, (uint32_t)number, name);
}

/* One context; `seen` [ranks] has for each rank the last that it was in, from
 * 1. False: it is not right. */
static bool read_context(sw_op_file_t *f, sw_cursor_t *c, uint32_t *seen,
                         bool *memory)
{
    uint64_t number = sw_varint(c), n = sw_varint(c);
    if (c->bad || number > UINT32_MAX || n > f->ranks)
        return false;
    if (!n)
        return read_section(f, c, number);
    *memory = sw_grow(&f->contexts, f->context_count, &f->context_room,
                      sizeof *f->contexts);
    if (!*memory)
        return false;
    sw_op_context_t *context = &f->contexts[f->context_count++];
    *context = (sw_op_context_t){
        .number = (uint32_t)number, .n = (uint32_t)n, .run = f->run_count};
    while (n) {
        uint64_t from = sw_varint(c), count = sw_varint(c);
        int64_t step = count > 1 ? sw_varint_signed(c) : 1;
        if (c->bad || !count || count > n || from >= f->ranks ||
            step > INT32_MAX || step < -(int64_t)INT32_MAX)
            return false;
        for (uint64_t i = 0; i < count; i++) {
            int64_t rank = (int64_t)from + (int64_t)i * step;
            if (rank < 0 || rank >= f->ranks || seen[rank] == f->context_count)
                return false;
            seen[rank] = f->context_count;
        }
        *memory = sw_grow(&f->runs, f->run_count, &f->run_room,
                          sizeof *f->runs);
        if (!*memory)
            return false;
        f->runs[f->run_count++] = (sw_op_run_t){(uint32_t)from, (uint32_t)count,
                                                step};
        context->runs++;
        n -= count;
    }
    return true;
}

bool sw_op_read_contexts(sw_op_file_t *f)
{
    uint32_t *seen = calloc(f->ranks, sizeof *seen), length, n;
    bool memory = seen != NULL;
    for (uint64_t part = sw_op_first_part(f, f->ranks);
         memory && part < f->parts; part++) {
        const unsigned char *at = sw_op_load(f, part, &length, &n);
        sw_cursor_t c = {.at = at, .end = at ? at + length : NULL};
        bool good = at != NULL;
        while (good && memory && n--) {
            uint32_t before = f->context_count;
            good = read_context(f, &c, seen, &memory);
            if (!good)
                f->context_count = before;
        }
        if (memory && (!good || c.at < c.end))
            f->damaged++;
    }
    free(seen);
    /* The same number again is the same context. */
    if (f->context_count)
        qsort(f->contexts, f->context_count, sizeof *f->contexts, by_number);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->context_count; i++)
        if (!kept || f->contexts[kept - 1].number != f->contexts[i].number)
            f->contexts[kept++] = f->contexts[i];
    f->context_count = kept;
    return memory;
}

const sw_op_context_t *sw_op_context_of(const sw_op_file_t *f, uint32_t number)
{
    sw_op_context_t key = {.number = number};
    return f->context_count ? bsearch(&key, f->contexts, f->context_count,
                                      sizeof key, by_number)
                            : NULL;
}

bool sw_op_is_member(const sw_op_file_t *f, uint32_t number, uint32_t rank)
{
    const sw_op_context_t *context = sw_op_context_of(f, number);
    for (uint32_t i = 0; context && i < context->runs; i++) {
        const sw_op_run_t *r = &f->runs[context->run + i];
        int64_t off = (int64_t)rank - r->from;
        if (r->step ? off % r->step == 0 && off / r->step >= 0 &&
                          off / r->step < r->n
                    : !off)
            return true;
    }
    return false;
}

uint32_t sw_op_context_count(const sw_op_file_t *f)
{
    return f->context_count;
}

uint32_t *sw_op_context(const sw_op_file_t *f, uint32_t i, uint32_t *number,
                        uint32_t *n)
{
    const sw_op_context_t *context = &f->contexts[i];
    uint32_t *members = malloc(context->n * sizeof *members), k = 0;
    *number = context->number;
    *n = context->n;
    for (uint32_t r = 0; members && r < context->runs; r++) {
        const sw_op_run_t *run = &f->runs[context->run + r];
        for (uint32_t j = 0; j < run->n; j++)
            members[k++] = (uint32_t)((int64_t)run->from + j * run->step);
    }
    return members;
}
