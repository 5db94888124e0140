/*
 * smpi_read.c - time-independent traces (see smpi_write.c) into operations.
 *
 * IN is a list of files, one for each rank in their order, or one file that
 * has all ranks' actions. Words are those that SimGrid 4 knows; what they mean
 * is told at `actions`. Sizes count elements of a datatype: that which an
 * action names, else bytes, or doubles after `init` with a word behind it.
 * Flops become time by how->flops; a sleep is in seconds.
 *
 * A receive without a size has that of its message. A test that finds nothing
 * costs nothing: what is tested is waited for by the `wait` behind it.
 */
#include "convert.h"
#include "lookup.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MOST ((size_t)1 << 22)    /* vectors have one for each rank */

/* Bytes of the datatypes that traces number. */
static const uint8_t type_sizes[] = {
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4,
    8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4,
    2, 4, 8, 16, 32, 1, 8, 16, 32, 1, 1, 1, 8, 8};

typedef struct {
    const char *path;           /* of the file at hand */
    uint64_t line;
    sw_op_writer_t *writer;
    sw_converted_t *done;
    double flops;
    uint32_t ranks;
    uint8_t *unit;              /* by rank: bytes of an element */
    uint32_t *requests;         /* by rank: how many there were */
    sw_lookup_t *open;          /* by rank: (from, to, tag) -> the first under
                                 * way */
    sw_lookup_t after;          /* (rank, request) -> the next alike */
    char **word;
    size_t words, room;
} smpi_t;

static bool fail(const smpi_t *s, const char *form, const char *what)
{
    fprintf(stderr, "%s:%llu: ", s->path, (unsigned long long)s->line);
    fprintf(stderr, form, what);
    putc('\n', stderr);
    return false;
}

/* Words ------------------------------------------------------------------- */

static bool split(smpi_t *s, char *text)
{
    s->words = 0;
    for (char *w = strtok(text, " \t\r\n"); w; w = strtok(NULL, " \t\r\n")) {
        if (s->words == s->room) {
            size_t room = s->room ? 2 * s->room : 64;
            char **to = realloc(s->word, room * sizeof *to);
            if (!to || room > WORDS_MOST) {
                s->word = to ? to : s->word;
                return fail(s, "%s", "this line has too many words");
            }
            s->word = to;
            s->room = room;
        }
        s->word[s->words++] = w;
    }
    return true;
}

static bool real(const smpi_t *s, size_t i, double most, double *to)
{
    char *end;
    if (i >= s->words)
        return fail(s, "%s: a number is missing behind it", s->word[1]);
    *to = strtod(s->word[i], &end);
    if (*end || end == s->word[i] || !(*to >= 0) || *to > most)
        return fail(s, "%s is no number that can be here", s->word[i]);
    return true;
}

static bool whole(const smpi_t *s, size_t i, uint64_t most, uint64_t *to)
{
    double n;
    if (!real(s, i, (double)most, &n))
        return false;
    if (n != floor(n))
        return fail(s, "%s is no whole number", s->word[i]);
    *to = (uint64_t)n;
    return true;
}

/* Bytes of so many elements, whose type the word at `type` names. */
static bool bytes_of(const smpi_t *s, uint32_t rank, size_t i, size_t type,
                     uint64_t *to)
{
    uint64_t n, which, unit = s->unit[rank];
    if (!whole(s, i, (uint64_t)1 << 43, &n))
        return false;
    if (type && type < s->words) {
        if (!whole(s, type, sizeof type_sizes - 1, &which))
            return false;
        unit = type_sizes[which];
    }
    *to = n * unit;
    return true;
}

/* Actions ----------------------------------------------------------------- */

static bool put(smpi_t *s, uint32_t rank, const sw_op_t *op)
{
    s->done->operations++;
    return sw_op_write(s->writer, rank, op) ||
           fail(s, "%s", "the operations cannot be written");
}

static bool compute(smpi_t *s, uint32_t rank, double seconds)
{
    sw_op_t op = {.kind = SW_OP_COMPUTE,
                  .time = (sw_ps_t)llround(seconds * 1e12)};
    return !op.time || put(s, rank, &op);
}

static uint64_t request_key(uint64_t from, uint64_t to, uint64_t tag)
{
    return (from * 0x9e3779b97f4a7c15u ^ to * 0xbf58476d1ce4e5b9u ^
            tag * 0x94d049bb133111ebu) >> 1;
}

static bool begin(smpi_t *s, uint32_t rank, uint64_t from, uint64_t to,
                  uint64_t tag, sw_op_t *op)
{
    op->request = ++s->requests[rank];
    uint64_t *first = sw_lookup_put(&s->open[rank],
                                    request_key(from, to, tag));
    if (!first)
        return fail(s, "%s", "no memory");
    /* Others alike are under way: it comes behind them. */
    uint64_t at = *first;
    if (!at) {
        *first = op->request;
        return true;
    }
    for (uint64_t *next; (next = sw_lookup_get(&s->after,
                                               (uint64_t)rank << 32 | at));)
        at = *next;
    uint64_t *next = sw_lookup_put(&s->after, (uint64_t)rank << 32 | at);
    if (!next)
        return fail(s, "%s", "no memory");
    *next = op->request;
    return true;
}

static bool message(smpi_t *s, uint32_t rank, const char *verb)
{
    bool nonblocking = verb[0] == 'i';
    bool sends = !strcmp(verb + nonblocking, "send");
    uint64_t peer, tag, bytes = 0;
    if (!whole(s, 2, s->ranks - 1, &peer) || !whole(s, 3, INT32_MAX, &tag))
        return false;
    /* -1: as large as it comes. */
    bool untold = !sends && s->words > 4 && s->word[4][0] == '-';
    if (!untold && (sends || s->words > 4) &&
        !bytes_of(s, rank, 4, 5, &bytes))
        return false;
    sw_op_t op = {.kind = sends ? SW_OP_SEND : SW_OP_RECV,
                  .peer = (int32_t)peer, .tag = (int32_t)tag, .bytes = bytes};
    if (nonblocking && !begin(s, rank, sends ? rank : peer,
                              sends ? peer : rank, tag, &op))
        return false;
    return put(s, rank, &op);
}

static bool end(smpi_t *s, uint32_t rank, uint64_t request)
{
    sw_op_t op = {.kind = SW_OP_WAIT, .request = (uint32_t)request};
    return put(s, rank, &op);
}

static bool wait_one(smpi_t *s, uint32_t rank)
{
    uint64_t from, to, tag;
    if (!whole(s, 2, s->ranks - 1, &from) ||
        !whole(s, 3, s->ranks - 1, &to) || !whole(s, 4, INT32_MAX, &tag))
        return false;
    uint64_t key = request_key(from, to, tag);
    uint64_t *first = sw_lookup_get(&s->open[rank], key);
    if (!first)
        return true;        /* a test has found it, SimGrid says */
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
static bool wait_all(smpi_t *s, uint32_t rank)
{
    sw_lookup_t *open = &s->open[rank];
    size_t n = 0, room = 16;
    uint64_t *all = malloc(room * sizeof *all);
    for (size_t i = 0; all && i < open->room; i++)
        for (uint64_t at = open->entries[i].key ? open->entries[i].value : 0,
             *next; all && at; at = next ? *next : 0) {
            if (n == room) {
                uint64_t *to = realloc(all, (room *= 2) * sizeof *all);
                if (!to)
                    free(all);
                all = to;
            }
            if (all)
                all[n++] = at;
            next = sw_lookup_get(&s->after, (uint64_t)rank << 32 | at);
        }
    if (!all)
        return fail(s, "%s", "no memory");
    bool good = true;
    qsort(all, n, sizeof *all, by_number);
    for (size_t i = 0; good && i < n; i++) {
        good = end(s, rank, all[i]);
        sw_lookup_remove(&s->after, (uint64_t)rank << 32 | all[i]);
    }
    free(all);
    sw_lookup_clear(open);
    return good;
}

static bool root_of(const smpi_t *s, size_t i, sw_op_t *op)
{
    uint64_t root = 0;
    if (i < s->words && !whole(s, i, s->ranks - 1, &root))
        return false;
    op->peer = (int32_t)root;
    return true;
}

/* `n` counts from the i-th word on: their sum, in elements. */
static bool sum_of(const smpi_t *s, size_t i, uint64_t *sum)
{
    uint64_t one;
    *sum = 0;
    for (uint32_t k = 0; k < s->ranks; k++) {
        if (!whole(s, i + k, (uint64_t)1 << 43, &one))
            return false;
        *sum += one;
    }
    return true;
}

/* The form of a collective's words. */
typedef enum { NONE, COUNT_ROOT, COUNT_FLOPS_ROOT, COUNT_FLOPS, BOTH_ROOT,
               BOTH, ONE_MANY_ROOT, MANY_ONE_ROOT, ONE_MANY, MANY_FLOPS,
               MANY_MANY } form_t;

static const struct {
    const char *name;
    uint8_t what, form;
} collectives[] = {
    {"barrier", SW_COLLECTIVE_BARRIER, NONE},
    {"bcast", SW_COLLECTIVE_BCAST, COUNT_ROOT},
    {"reduce", SW_COLLECTIVE_REDUCE, COUNT_FLOPS_ROOT},
    {"allreduce", SW_COLLECTIVE_ALLREDUCE, COUNT_FLOPS},
    {"scan", SW_COLLECTIVE_SCAN, COUNT_FLOPS},
    {"exscan", SW_COLLECTIVE_EXSCAN, COUNT_FLOPS},
    {"gather", SW_COLLECTIVE_GATHER, BOTH_ROOT},
    {"scatter", SW_COLLECTIVE_SCATTER, BOTH_ROOT},
    {"allgather", SW_COLLECTIVE_ALLGATHER, BOTH},
    {"alltoall", SW_COLLECTIVE_ALLTOALL, BOTH},
    {"gatherv", SW_COLLECTIVE_GATHERV, ONE_MANY_ROOT},
    {"scatterv", SW_COLLECTIVE_SCATTERV, MANY_ONE_ROOT},
    {"allgatherv", SW_COLLECTIVE_ALLGATHERV, ONE_MANY},
    {"reducescatter", SW_COLLECTIVE_REDUCE_SCATTER, MANY_FLOPS},
    {"alltoallv", SW_COLLECTIVE_ALLTOALLV, MANY_MANY},
};

static void set_amounts(const smpi_t *s, uint32_t rank, sw_op_t *op)
{
    uint64_t n = s->ranks, all = op->bytes * n;
    bool root = op->peer == (int32_t)rank;
    switch (op->what) {
    case SW_COLLECTIVE_BCAST:
        *(root ? &op->sent : &op->received) = op->bytes;
        break;
    case SW_COLLECTIVE_REDUCE:
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_GATHERV:
        op->sent = op->bytes;
        op->received = !root ? 0
                     : op->what == SW_COLLECTIVE_REDUCE ? op->bytes : all;
        break;
    case SW_COLLECTIVE_SCATTER:
    case SW_COLLECTIVE_SCATTERV:
        op->sent = root ? all : 0;
        op->received = op->bytes;
        break;
    case SW_COLLECTIVE_ALLTOALL:
    case SW_COLLECTIVE_ALLTOALLV:
        op->sent = op->received = all;
        break;
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLGATHERV:
        op->sent = op->bytes;
        op->received = all;
        break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
        op->sent = all;
        op->received = op->bytes;
        break;
    default:
        op->sent = op->received = op->bytes;
        break;
    }
}

static bool collective(smpi_t *s, uint32_t rank, unsigned which)
{
    size_t n = s->ranks;
    uint64_t sum;
    double flops = 0;
    bool good = true, mean = false;
    sw_op_t op = {.kind = SW_OP_COLLECTIVE, .what = collectives[which].what,
                  .peer = -1};
    switch (collectives[which].form) {
    case NONE:
        break;
    case COUNT_ROOT:
        good = bytes_of(s, rank, 2, 4, &op.bytes) && root_of(s, 3, &op);
        break;
    case COUNT_FLOPS_ROOT:
        good = bytes_of(s, rank, 2, 5, &op.bytes) &&
               real(s, 3, 1e30, &flops) && root_of(s, 4, &op);
        break;
    case COUNT_FLOPS:
        good = bytes_of(s, rank, 2, 4, &op.bytes) &&
               (s->words < 4 || real(s, 3, 1e30, &flops));
        break;
    case BOTH_ROOT:
        good = bytes_of(s, rank, 2, 5, &op.bytes) && root_of(s, 4, &op);
        break;
    case BOTH:
        good = bytes_of(s, rank, 2, 4, &op.bytes);
        break;
    case ONE_MANY_ROOT:
    case ONE_MANY:
        good = sum_of(s, 3, &sum) && bytes_of(s, rank, 2, 0, &op.bytes);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        if (collectives[which].form == ONE_MANY_ROOT)
            good = good && root_of(s, 3 + n, &op);
        break;
    case MANY_ONE_ROOT:
        good = sum_of(s, 2, &sum) && root_of(s, 3 + n, &op);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    case MANY_FLOPS:
        good = sum_of(s, 2, &sum) && real(s, 2 + n, 1e30, &flops);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    case MANY_MANY:
        good = sum_of(s, 3, &sum);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    }
    s->done->means += mean;
    set_amounts(s, rank, &op);
    return good && put(s, rank, &op) &&
           (!flops || compute(s, rank, flops / s->flops));
}

static bool both(smpi_t *s, uint32_t rank)
{
    /* sendRecv BYTES TO RECEIVED FROM [TYPE TYPE] */
    uint64_t to, from, sent, received;
    if (!bytes_of(s, rank, 2, 6, &sent) || !whole(s, 3, s->ranks - 1, &to) ||
        !bytes_of(s, rank, 4, 7, &received) ||
        !whole(s, 5, s->ranks - 1, &from))
        return false;
    sw_op_t send = {.kind = SW_OP_SEND, .peer = (int32_t)to, .bytes = sent,
                    .request = ++s->requests[rank]};
    sw_op_t receive = {.kind = SW_OP_RECV, .peer = (int32_t)from,
                       .bytes = received, .request = ++s->requests[rank]};
    return put(s, rank, &send) && put(s, rank, &receive) &&
           end(s, rank, receive.request) && end(s, rank, send.request);
}

/* Words of a line: RANK ACTION ... */
static bool action(smpi_t *s, uint32_t rank)
{
    const char *verb = s->word[1];
    double n;
    static const char *const nothing[] = {
        "finalize", "comm_size", "comm_split", "comm_dup", "test", "location"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (!strcasecmp(verb, nothing[i]))
            return true;
    for (unsigned i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (!strcasecmp(verb, collectives[i].name))
            return collective(s, rank, i);
    if (!strcasecmp(verb, "init")) {
        s->unit[rank] = s->words > 2 ? 8 : 1;
        return true;
    }
    if (!strcasecmp(verb, "compute"))
        return real(s, 2, 1e30, &n) &&
               (n / s->flops <= 1e6 ? compute(s, rank, n / s->flops)
                : fail(s, "%s flop take more than 11 days: name a rate "
                       "(--flops)", s->word[2]));
    if (!strcasecmp(verb, "sleep"))
        return real(s, 2, 1e6, &n) && compute(s, rank, n);
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
    return fail(s, "%s is no action that is known", verb);
}

/* Files ------------------------------------------------------------------- */

/* Does a line begin with a rank, and which? */
static bool rank_of(const char *text, uint64_t *rank)
{
    char *end;
    text += strspn(text, " \t");
    text += *text == 'p' && isdigit((unsigned char)text[1]);
    if (!isdigit((unsigned char)*text))
        return false;
    *rank = strtoull(text, &end, 10);
    return (*end == ' ' || *end == '\t') && end[strspn(end, " \t")] > ' ';
}

static bool is_empty(const char *text)
{
    text += strspn(text, " \t\r\n");
    return !*text || *text == '#';
}

static bool read_actions(smpi_t *s, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    uint64_t rank;
    bool good = true;
    if (!file)
        return fail(s, "%s cannot be read", path);
    const char *before = s->path;
    uint64_t line = s->line;
    s->path = path;
    s->line = 0;
    while (good && getline(&text, &room, file) >= 0) {
        s->line++;
        if (is_empty(text))
            continue;
        good = (rank_of(text, &rank) && rank < s->ranks) ||
               fail(s, "%s", "a line begins with a rank that is there");
        good = good && split(s, text) && action(s, (uint32_t)rank);
    }
    good = good && (!ferror(file) || fail(s, "%s", "it cannot be read"));
    free(text);
    fclose(file);
    s->path = before;
    s->line = line;
    return good;
}

/* IN: how many ranks, and is it a list? */
static bool look(smpi_t *s, const char *in, bool *list)
{
    FILE *file = fopen(in, "r");
    char *text = NULL;
    size_t room = 0;
    uint64_t rank, most = 0, files = 0, n = 0;
    if (!file)
        return sw_convert_fail("%s: %s", in, strerror(errno));
    while (getline(&text, &room, file) >= 0) {
        if (is_empty(text))
            continue;
        n++;
        if (rank_of(text, &rank))
            most = rank > most ? rank : most;
        else
            files++;
    }
    free(text);
    fclose(file);
    *list = files == n;
    uint64_t ranks = *list ? files : most + 1;
    if (!n || ranks > INT32_MAX || (files && !*list))
        return sw_convert_fail("%s is neither a list of files nor a "
                               "time-independent trace", in);
    s->ranks = (uint32_t)ranks;
    s->unit = malloc(s->ranks);
    s->requests = calloc(s->ranks, sizeof *s->requests);
    s->open = calloc(s->ranks, sizeof *s->open);
    if (!s->unit || !s->requests || !s->open)
        return sw_convert_fail("%s: no memory", in);
    memset(s->unit, 1, s->ranks);
    return true;
}

/* Names are beside the list, unless they begin with a slash. */
static bool read_list(smpi_t *s, const char *in)
{
    FILE *file = fopen(in, "r");
    char *text = NULL, *path = NULL;
    size_t room = 0;
    const char *slash = strrchr(in, '/');
    size_t folder = slash ? (size_t)(slash - in) + 1 : 0;
    bool good = file != NULL || fail(s, "%s cannot be read", in);
    s->path = in;
    while (good && getline(&text, &room, file) >= 0) {
        s->line++;
        if (is_empty(text))
            continue;
        text[strcspn(text, "\r\n")] = '\0';
        free(path);
        path = malloc(folder + strlen(text) + 1);
        if (!path) {
            good = fail(s, "%s", "no memory");
            break;
        }
        memcpy(path, in, folder);
        strcpy(path + (*text == '/' ? 0 : folder), text);
        good = read_actions(s, path);
    }
    free(path);
    free(text);
    if (file)
        fclose(file);
    return good;
}

bool sw_smpi_to_ops(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    smpi_t s = {.path = in, .done = done, .flops = how->flops};
    bool list = false, good = look(&s, in, &list);
    if (good && !(s.writer = sw_op_writer_new(out, s.ranks,
                                              "from SMPI's trace")))
        good = sw_convert_fail("%s: %s", out, strerror(errno));
    good = good && (list ? read_list(&s, in) : read_actions(&s, in));
    if (s.writer && good)
        good = sw_op_writer_close(s.writer) ||
               sw_convert_fail("%s: %s", out, strerror(errno));
    else if (s.writer)
        sw_op_writer_drop(s.writer);
    for (uint32_t i = 0; s.open && i < s.ranks; i++)
        sw_lookup_free(&s.open[i]);
    sw_lookup_free(&s.after);
    free(s.open);
    free(s.requests);
    free(s.unit);
    free(s.word);
    return good;
}
