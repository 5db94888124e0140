/*
 * smpi_actions.c - what the actions of a time-independent trace are among
 * operations; see smpi_read.c.
 */
#include "smpi_read.h"

#include "node/base/grow.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool sw_smpi_put(sw_smpi_t *s, uint32_t rank, const sw_vop_t *op)
{
    s->done->operations++;
    return sw_op_write(s->writer, rank, op) ||
           sw_smpi_fail(s, "%s", "the operations cannot be written");
}

bool sw_smpi_compute(sw_smpi_t *s, uint32_t rank, double seconds)
{
    sw_vop_t op = {.kind = SW_OP_COMPUTE,
                   .time = (sw_ps_t)llround(seconds * 1e12)};
    return !op.time || sw_smpi_put(s, rank, &op);
}

static uint64_t request_key(uint64_t from, uint64_t to, uint64_t tag)
{
    return (from * 0x9e3779b97f4a7c15u ^ to * 0xbf58476d1ce4e5b9u ^
            tag * 0x94d049bb133111ebu) >>
           1;
}

static bool begin(sw_smpi_t *s, uint32_t rank, uint64_t from, uint64_t to,
                  uint64_t tag, sw_vop_t *op)
{
    op->request = ++s->requests[rank];
    uint64_t *first = sw_lookup_put(&s->open[rank], request_key(from, to, tag));
    if (!first)
        return sw_smpi_fail(s, "%s", "no memory");
    /* Others alike are under way: it comes behind them. */
    uint64_t at = *first;
    if (!at) {
        *first = op->request;
        return true;
    }
    for (uint64_t *next;
         (next = sw_lookup_get(&s->after, (uint64_t)rank << 32 | at));)
        at = *next;
    uint64_t *next = sw_lookup_put(&s->after, (uint64_t)rank << 32 | at);
    if (!next)
        return sw_smpi_fail(s, "%s", "no memory");
    *next = op->request;
    return true;
}

static bool message(sw_smpi_t *s, uint32_t rank, const char *verb)
{
    bool nonblocking = verb[0] == 'i';
    bool sends = !strcmp(verb + nonblocking, "send");
    uint64_t peer, tag, bytes = 0;
    if (!sw_smpi_rank(s, 2, &peer) || !sw_smpi_whole(s, 3, INT32_MAX, &tag))
        return false;
    /* -1: as large as it comes. */
    bool untold = !sends && s->words > 4 && s->word[4][0] == '-';
    if (!untold && (sends || s->words > 4) &&
        !sw_smpi_bytes(s, rank, 4, 5, &bytes))
        return false;
    sw_vop_t op = {.kind = sends ? SW_OP_SEND : SW_OP_RECV,
                   .peer = (int32_t)peer,
                   .tag = (int32_t)tag,
                   .bytes = bytes};
    if (nonblocking &&
        !begin(s, rank, sends ? rank : peer, sends ? peer : rank, tag, &op))
        return false;
    return sw_smpi_put(s, rank, &op);
}

static bool end(sw_smpi_t *s, uint32_t rank, uint64_t request)
{
    sw_vop_t op = {.kind = SW_OP_WAIT, .request = (uint32_t)request};
    return sw_smpi_put(s, rank, &op);
}

static bool wait_one(sw_smpi_t *s, uint32_t rank)
{
    uint64_t from, to, tag;
    if (!sw_smpi_rank(s, 2, &from) || !sw_smpi_rank(s, 3, &to) ||
        !sw_smpi_whole(s, 4, INT32_MAX, &tag))
        return false;
    uint64_t key = request_key(from, to, tag);
    uint64_t *first = sw_lookup_get(&s->open[rank], key);
    if (!first)
        return true; /* a test has found it, SimGrid says */
    uint64_t request = *first, mine = (uint64_t)rank << 32 | request;
    uint64_t *next = sw_lookup_get(&s->after, mine);
    if (next)
        *first = *next;
    else
        sw_lookup_remove(&s->open[rank], key);
    sw_lookup_remove(&s->after, mine);
    return end(s, rank, request);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* In the order of their beginning. */
static bool wait_all(sw_smpi_t *s, uint32_t rank)
{
    sw_lookup_t *open = &s->open[rank];
    uint32_t n = 0, room = 0;
    uint64_t *all = NULL;
    bool good = true;
    for (size_t i = 0; i < open->room; i++)
        for (uint64_t at = open->entries[i].key ? open->entries[i].value : 0,
                      *next;
             good && at; at = next ? *next : 0) {
            good = sw_grow(&all, n, &room, sizeof *all) ||
                   sw_smpi_fail(s, "%s", "no memory");
            if (good)
                all[n++] = at;
            next = sw_lookup_get(&s->after, (uint64_t)rank << 32 | at);
        }
    if (n)
        qsort(all, n, sizeof *all, by_number);
    for (uint32_t i = 0; good && i < n; i++) {
        good = end(s, rank, all[i]);
        sw_lookup_remove(&s->after, (uint64_t)rank << 32 | all[i]);
    }
    free(all);
    sw_lookup_clear(open);
    return good;
}

static bool both(sw_smpi_t *s, uint32_t rank)
{
    /* sendRecv BYTES TO RECEIVED FROM [TYPE TYPE] */
    uint64_t to, from, sent, received;
    if (!sw_smpi_bytes(s, rank, 2, 6, &sent) || !sw_smpi_rank(s, 3, &to) ||
        !sw_smpi_bytes(s, rank, 4, 7, &received) || !sw_smpi_rank(s, 5, &from))
        return false;
    sw_vop_t send = {.kind = SW_OP_SEND,
                     .peer = (int32_t)to,
                     .bytes = sent,
                     .request = ++s->requests[rank]};
    sw_vop_t receive = {.kind = SW_OP_RECV,
                        .peer = (int32_t)from,
                        .bytes = received,
                        .request = ++s->requests[rank]};
    return sw_smpi_put(s, rank, &send) && sw_smpi_put(s, rank, &receive) &&
           end(s, rank, receive.request) && end(s, rank, send.request);
}

bool sw_smpi_action(sw_smpi_t *s, uint32_t rank)
{
    const char *verb = s->word[1];
    double n;
    static const char *const nothing[] = {"finalize", "comm_size", "comm_split",
                                          "comm_dup", "test",      "location"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (!strcasecmp(verb, nothing[i]))
            return true;
    int which = sw_smpi_collective_named(verb);
    if (which >= 0)
        return sw_smpi_collective(s, rank, (unsigned)which);
    if (!strcasecmp(verb, "init")) {
        s->unit[rank] = s->words > 2 ? 8 : 1;
        return true;
    }
    if (!strcasecmp(verb, "compute"))
        return sw_smpi_real(s, 2, 1e30, &n) &&
               (n / s->flops <= 1e6
                    ? sw_smpi_compute(s, rank, n / s->flops)
                    : sw_smpi_fail(
                          s,
                          "%s flop take more than 11 days: name a rate "
                          "(--flops)",
                          s->word[2]));
    if (!strcasecmp(verb, "sleep"))
        return sw_smpi_real(s, 2, 1e6, &n) && sw_smpi_compute(s, rank, n);
    if (!strcmp(verb, "send") || !strcmp(verb, "recv") ||
        !strcasecmp(verb, "isend") || !strcasecmp(verb, "irecv")) {
        char small[8] = {0};
        for (size_t i = 0; verb[i] && i < 7; i++)
            small[i] = (char)tolower((unsigned char)verb[i]);
        return message(s, rank, small);
    }
    if (!strcasecmp(verb, "sendrecv"))
        return both(s, rank);
    if (!strcasecmp(verb, "wait"))
        return wait_one(s, rank);
    if (!strcasecmp(verb, "waitall"))
        return wait_all(s, rank);
    return sw_smpi_fail(s, "%s is no action that is known", verb);
}
