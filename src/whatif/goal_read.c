/*
 * goal_read.c - GOAL (see goal_write.c) into operations.
 *
 * A rank's operations there are a graph; here they are a sequence. So they are
 * put into an order that the graph allows: sends and receives become
 * nonblocking, calc computes, and before an operation comes a wait for each
 * message that it requires and that was not waited for. Whatever can begin
 * without waiting begins first, in the order of the file. Where nothing can,
 * what comes next may depend on which message is earlier: then a sequence
 * would say more than the file does, and it is refused, unless what one waits
 * for is part of what all others wait for, or the file's order is asked for.
 *
 * Several processors of a rank ("cpu") compute side by side, which no sequence
 * does: refused. Network interfaces ("nic") are not told apart.
 */
#include "convert.h"
#include "lookup.h"
#include "../node/grow.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

typedef struct {
    uint8_t kind;               /* sw_op_kind_t */
    bool issued, over;          /* over: waited for */
    int32_t peer, tag;
    uint64_t size;
    uint64_t line;
    uint32_t unissued;          /* of what it names, not yet begun    */
    uint32_t waits;             /* messages it requires, not yet over */
    uint32_t successors;        /* the first edge to another, and 1   */
    uint32_t predecessors;      /* and from another                   */
    uint32_t request;
} node_t;

/* `to` requires what the edge hangs at; `over`: its end, not its beginning. */
typedef struct {
    uint32_t from, to, next, next_in;
    bool over;
} edge_t;

typedef struct {
    const char *path;
    FILE *file;
    char *text;                 /* the line at hand */
    size_t text_room;
    uint64_t line;
    bool comment;               /* of several lines */
    sw_op_writer_t *writer;
    sw_converted_t *done;
    bool file_order;
    uint32_t ranks, rank;
    unsigned char *seen;        /* ranks that were there */
    node_t *nodes;
    uint32_t node_count, node_room;
    edge_t *edges;
    uint32_t edge_count, edge_room;
    sw_lookup_t labels;         /* a hash of the label -> its node, and 1 */
    char **label_texts;         /* by node */
    uint32_t label_room;
    long cpu;                   /* the one of this rank; -1: not yet known */
    uint32_t *free_heap, free_count;    /* can begin at once; least first  */
    uint32_t *waiting, waiting_count;   /* could, but for messages         */
    uint32_t *free_requests, free_request_count, requests;
    sw_op_t held;               /* a message not yet written */
} goal_t;

static bool fail(const goal_t *g, const char *form, const char *what)
{
    fprintf(stderr, "%s:%llu: ", g->path, (unsigned long long)g->line);
    fprintf(stderr, form, what);
    putc('\n', stderr);
    return false;
}

static bool no_memory(const goal_t *g)
{
    return sw_convert_fail("%s: no memory", g->path);
}

/* The order --------------------------------------------------------------- */

static void heap_push(goal_t *g, uint32_t node)
{
    uint32_t i = g->free_count++;
    for (; i && g->free_heap[(i - 1) / 2] > node; i = (i - 1) / 2)
        g->free_heap[i] = g->free_heap[(i - 1) / 2];
    g->free_heap[i] = node;
}

static uint32_t heap_pop(goal_t *g)
{
    uint32_t first = g->free_heap[0], last = g->free_heap[--g->free_count];
    uint32_t i = 0, n = g->free_count;
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && g->free_heap[child + 1] < g->free_heap[child])
            child++;
        if (g->free_heap[child] >= last)
            break;
        g->free_heap[i] = g->free_heap[child];
    }
    g->free_heap[i] = last;
    return first;
}

static void ready(goal_t *g, uint32_t node)
{
    if (g->nodes[node].waits)
        g->waiting[g->waiting_count++] = node;
    else
        heap_push(g, node);
}

/* A message that is waited for at once blocks. */
static bool flush(goal_t *g)
{
    bool good = !g->held.kind || sw_op_write(g->writer, g->rank, &g->held);
    g->done->operations += g->held.kind != 0;
    g->held.kind = 0;
    return good;
}

static bool put(goal_t *g, const sw_op_t *op)
{
    if (op->kind == SW_OP_WAIT && g->held.kind &&
        g->held.request == op->request) {
        g->held.request = 0;
        return flush(g);
    }
    if (!flush(g))
        return false;
    if (op->kind == SW_OP_SEND || op->kind == SW_OP_RECV) {
        g->held = *op;
        return true;
    }
    g->done->operations++;
    return sw_op_write(g->writer, g->rank, op);
}

/* It is over: those that require it wait for one less. */
static void over(goal_t *g, uint32_t node)
{
    g->nodes[node].over = true;
    for (uint32_t i = g->nodes[node].successors; i; i = g->edges[i - 1].next) {
        const edge_t *edge = &g->edges[i - 1];
        node_t *to = &g->nodes[edge->to];
        if (!edge->over || --to->waits || to->unissued)
            continue;
        for (uint32_t k = 0; k < g->waiting_count; k++)
            if (g->waiting[k] == edge->to) {
                g->waiting[k] = g->waiting[--g->waiting_count];
                heap_push(g, edge->to);
                break;
            }
    }
}

static bool wait_for(goal_t *g, uint32_t node)
{
    sw_op_t op = {.kind = SW_OP_WAIT, .request = g->nodes[node].request};
    if (g->nodes[node].over)
        return true;
    g->free_requests[g->free_request_count++] = op.request;
    over(g, node);
    return put(g, &op);
}

static bool issue(goal_t *g, uint32_t which)
{
    node_t *node = &g->nodes[which];
    sw_op_t op = {.kind = node->kind, .peer = node->peer, .tag = node->tag,
                  .bytes = node->size};
    node->issued = true;
    bool computes = node->kind == SW_OP_COMPUTE;
    if (computes) {
        op = (sw_op_t){.kind = SW_OP_COMPUTE,
                       .time = (sw_ps_t)node->size * SW_PS_PER_NS};
    } else {
        op.request = node->request = g->free_request_count
            ? g->free_requests[--g->free_request_count] : ++g->requests;
    }
    if ((op.time || !computes) && !put(g, &op))
        return false;
    /* What only required that it has begun may be ready now. */
    for (uint32_t i = node->successors; i; i = g->edges[i - 1].next) {
        node_t *to = &g->nodes[g->edges[i - 1].to];
        if (computes && g->edges[i - 1].over)
            to->waits--;
        if (!--to->unissued)
            ready(g, g->edges[i - 1].to);
    }
    node->over |= computes;
    return true;
}

/* Messages that a node requires and that are not over. */
static bool requires(const goal_t *g, uint32_t node, uint32_t message)
{
    for (uint32_t i = g->nodes[message].successors; i;
         i = g->edges[i - 1].next)
        if (g->edges[i - 1].to == node && g->edges[i - 1].over)
            return true;
    return false;
}

/* Does `a` wait for nothing that `b` does not wait for, too? Of sends that are
 * required it makes no matter which is first. */
static bool is_part(const goal_t *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = g->nodes[a].predecessors; i;
         i = g->edges[i - 1].next_in) {
        const edge_t *e = &g->edges[i - 1];
        if (e->over && !g->nodes[e->from].over &&
            g->nodes[e->from].kind != SW_OP_SEND && !requires(g, b, e->from))
            return false;
    }
    return true;
}

/* Of those that wait: who is first. NOBODY: the file leaves it open. */
static uint32_t choose(goal_t *g)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < g->waiting_count; i++) {
        const node_t *a = &g->nodes[g->waiting[i]];
        const node_t *b = &g->nodes[g->waiting[best]];
        bool fewer = a->waits < b->waits ||
                     (a->waits == b->waits && g->waiting[i] <
                                              g->waiting[best]);
        if (g->file_order ? g->waiting[i] < g->waiting[best] : fewer)
            best = i;
    }
    uint32_t found = g->waiting[best];
    for (uint32_t i = 0; i < g->waiting_count && !g->file_order; i++)
        if (i != best && !is_part(g, found, g->waiting[i])) {
            g->line = g->nodes[g->waiting[i]].line;
            char other[32];
            snprintf(other, sizeof other, "%llu",
                     (unsigned long long)g->nodes[found].line);
            fail(g, "whether this or line %s comes first depends on which "
                 "message is earlier; ranks here are sequences. Say with "
                 "`requires` what is first, or take the file's order "
                 "(--file-order)", other);
            return NOBODY;
        }
    return found;
}

static bool wait_of(goal_t *g, uint32_t node)
{
    for (uint32_t i = g->nodes[node].predecessors; i;
         i = g->edges[i - 1].next_in)
        if (g->edges[i - 1].over && !wait_for(g, g->edges[i - 1].from))
            return false;
    return true;
}

static bool put_rank(goal_t *g)
{
    uint32_t n = g->node_count, issued = 0;
    size_t room = ((size_t)n + 1) * sizeof *g->free_heap;
    free(g->free_heap);
    free(g->waiting);
    free(g->free_requests);
    g->free_heap = malloc(room);
    g->waiting = malloc(room);
    g->free_requests = malloc(room);
    if (!g->free_heap || !g->waiting || !g->free_requests)
        return no_memory(g);
    g->free_count = g->waiting_count = 0;
    g->free_request_count = g->requests = 0;
    g->held.kind = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!g->nodes[i].unissued)
            ready(g, i);
    for (; issued < n; issued++) {
        while (!g->free_count && g->waiting_count) {
            uint32_t node = choose(g);
            if (node == NOBODY)
                return false;
            if (!wait_of(g, node))
                return sw_convert_fail("%s: the operations cannot be written",
                                       g->path);
        }
        if (!g->free_count)
            break;
        if (!issue(g, heap_pop(g)))
            return sw_convert_fail("%s: the operations cannot be written",
                                   g->path);
    }
    for (uint32_t i = 0; issued < n && i < n; i++)
        if (!g->nodes[i].issued) {
            g->line = g->nodes[i].line;
            return fail(g, "%s", "this requires what requires it, in a "
                        "circle");
        }
    for (uint32_t i = 0; i < n; i++)
        if (!wait_for(g, i))
            return sw_convert_fail("%s: the operations cannot be written",
                                   g->path);
    return flush(g) ||
           sw_convert_fail("%s: the operations cannot be written", g->path);
}

/* Text -------------------------------------------------------------------- */

/* The next line without comments; false: the end. */
static bool next_line(goal_t *g)
{
    while (getline(&g->text, &g->text_room, g->file) >= 0) {
        g->line++;
        char *to = g->text;
        for (char *c = g->text; *c; c++) {
            if (g->comment) {
                if (c[0] == '*' && c[1] == '/')
                    g->comment = false, c++;
            } else if (c[0] == '/' && c[1] == '*') {
                g->comment = true, c++;
            } else if (c[0] == '/' && c[1] == '/') {
                break;
            } else {
                *to++ = *c;
            }
        }
        *to = '\0';
        if (g->text[strspn(g->text, " \t\r\n")])
            return true;
    }
    return false;
}

/* The next word, or colon or brace; "": there is none. */
static char *word(char **at)
{
    static char kept[256];
    char *from = *at + strspn(*at, " \t\r\n");
    size_t n = strcspn(from, " \t\r\n:{}");
    if (!n && *from)
        n = 1;
    *at = from + n;
    n = sw_min(n, sizeof kept - 1);
    memcpy(kept, from, n);
    kept[n] = '\0';
    return kept;
}

static bool number(const char *text, const char *unit, uint64_t most,
                   uint64_t *to)
{
    char *end;
    errno = 0;
    *to = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !errno && !strcmp(end, unit) &&
           *to <= most;
}

static uint64_t hash_of(const char *text)
{
    uint64_t x = 14695981039346656037u;
    for (; *text; text++)
        x = (x ^ (unsigned char)*text) * 1099511628211u;
    return x >> 1;
}

/* The node of a label; hashes that are alike are tried further on. */
static uint32_t labelled(goal_t *g, const char *label, uint64_t *key)
{
    for (*key = hash_of(label);; ++*key) {
        uint64_t *node = sw_lookup_get(&g->labels, *key);
        if (!node)
            return NOBODY;
        if (!strcmp(g->label_texts[*node - 1], label))
            return (uint32_t)*node - 1;
    }
}

static bool set_label(goal_t *g, const char *label)
{
    uint64_t key;
    if (labelled(g, label, &key) != NOBODY)
        return fail(g, "there is a label %s before", label);
    uint64_t *node = sw_lookup_put(&g->labels, key);
    if (!node || !(g->label_texts[g->node_count - 1] = strdup(label)))
        return no_memory(g);
    *node = g->node_count;
    return true;
}

static bool new_node(goal_t *g, uint8_t kind)
{
    uint32_t n = g->node_count;
    uint32_t room = g->node_room;
    if (!sw_grow(&g->nodes, n, &g->node_room, sizeof *g->nodes) ||
        !sw_grow(&g->label_texts, n, &room, sizeof *g->label_texts))
        return no_memory(g);
    g->nodes[n] = (node_t){.kind = kind, .line = g->line};
    g->label_texts[n] = NULL;
    g->node_count++;
    return true;
}

/* What may stand behind an operation. */
static bool options(goal_t *g, node_t *node, char **at)
{
    uint64_t n;
    for (char *w; *(w = word(at));) {
        bool tag = !strcmp(w, "tag"), cpu = !strcmp(w, "cpu");
        if (!tag && !cpu && strcmp(w, "nic"))
            return fail(g, "%s: tag, cpu or nic should stand here", w);
        w = word(at);
        if (tag && node->kind == SW_OP_COMPUTE)
            return fail(g, "%s", "a calc has no tag");
        if (tag && !strcmp(w, "-1") && node->kind == SW_OP_RECV) {
            node->tag = SW_OP_ANY;
        } else if (!number(w, "", tag ? INT32_MAX : 65535, &n)) {
            return fail(g, "%s is no number that can be here", w);
        } else if (tag) {
            node->tag = (int32_t)n;
        } else if (cpu) {
            if (g->cpu >= 0 && g->cpu != (long)n)
                return fail(g, "cpu %s: the rank has operations on another "
                            "processor, and a rank here has one", w);
            g->cpu = (long)n;
        }
    }
    return true;
}

static bool operation(goal_t *g, const char *verb, char **at)
{
    bool sends = !strcmp(verb, "send"), computes = !strcmp(verb, "calc");
    uint64_t size, peer;
    if (!sends && !computes && strcmp(verb, "recv"))
        return fail(g, "%s: send, recv or calc should stand here", verb);
    if (!new_node(g, sends ? SW_OP_SEND : computes ? SW_OP_COMPUTE
                                                   : SW_OP_RECV))
        return false;
    node_t *node = &g->nodes[g->node_count - 1];
    char *w = word(at);
    if (!number(w, computes ? "" : "b", (uint64_t)1 << 48, &size))
        return fail(g, computes ? "%s is no time in ns"
                                : "%s is no size, as in 100b", w);
    node->size = size;
    if (computes)
        return options(g, node, at);
    w = word(at);
    if (strcmp(w, sends ? "to" : "from"))
        return fail(g, sends ? "%s: `to` should stand here"
                             : "%s: `from` should stand here", w);
    w = word(at);
    if (!sends && !strcmp(w, "-1"))
        node->peer = SW_OP_ANY;
    else if (number(w, "", g->ranks - 1, &peer))
        node->peer = (int32_t)peer;
    else
        return fail(g, "there is no rank %s", w);
    return options(g, node, at);
}

static bool depends(goal_t *g, uint32_t to, bool over, char **at)
{
    uint64_t key;
    char *w = word(at);
    uint32_t from = labelled(g, w, &key);
    if (from == NOBODY)
        return fail(g, "there is no label %s before", w);
    if (*word(at))
        return fail(g, "%s", "one label is required in a line");
    if (!sw_grow(&g->edges, g->edge_count, &g->edge_room, sizeof *g->edges))
        return no_memory(g);
    edge_t *edge = &g->edges[g->edge_count++];
    *edge = (edge_t){.from = from, .to = to, .over = over,
                     .next = g->nodes[from].successors,
                     .next_in = g->nodes[to].predecessors};
    g->nodes[from].successors = g->edge_count;
    g->nodes[to].predecessors = g->edge_count;
    g->nodes[to].unissued++;
    g->nodes[to].waits += over;
    return true;
}

static void clear_rank(goal_t *g)
{
    for (uint32_t i = 0; i < g->node_count; i++)
        free(g->label_texts[i]);
    g->node_count = g->edge_count = 0;
    g->cpu = -1;
    sw_lookup_clear(&g->labels);
}

/* A line within a rank. */
static bool line(goal_t *g, char *at)
{
    char first[256], *w = word(&at);
    uint64_t key;
    if (!strcmp(w, "send") || !strcmp(w, "recv") || !strcmp(w, "calc")) {
        strcpy(first, w);
        return operation(g, first, &at);
    }
    strcpy(first, w);
    w = word(&at);
    if (!strcmp(w, ":"))
        return operation(g, word(&at), &at) && set_label(g, first);
    bool over = !strcmp(w, "requires");
    if (!over && strcmp(w, "irequires"))
        return fail(g, "%s: a colon, requires or irequires should stand "
                    "behind a label", *w ? w : first);
    uint32_t to = labelled(g, first, &key);
    if (to == NOBODY)
        return fail(g, "there is no label %s before", first);
    return depends(g, to, over, &at);
}

static bool rank(goal_t *g, char *at)
{
    uint64_t n;
    char *w = word(&at);
    if (!number(w, "", g->ranks - 1, &n) || g->seen[n])
        return fail(g, "rank %s is not there, or was before", w);
    g->seen[n] = 1;
    g->rank = (uint32_t)n;
    if (strcmp(word(&at), "{") || *word(&at))
        return fail(g, "%s", "a line ends with { behind a rank's number");
    clear_rank(g);
    while (next_line(g)) {
        char *from = g->text, *brace = word(&from);
        if (!strcmp(brace, "}"))
            return put_rank(g);
        if (!line(g, g->text))
            return false;
    }
    return fail(g, "%s", "the file ends within a rank: } is missing");
}

static bool whole(goal_t *g, const char *out)
{
    uint64_t n;
    char *at = g->text;
    if (!next_line(g) || (at = g->text, strcmp(word(&at), "num_ranks")) ||
        !number(word(&at), "", INT32_MAX, &n) || !n)
        return fail(g, "%s", "a GOAL file begins with num_ranks N");
    g->ranks = (uint32_t)n;
    g->seen = calloc(g->ranks, 1);
    if (!g->seen)
        return no_memory(g);
    g->writer = sw_op_writer_new(out, g->ranks, "from GOAL");
    if (!g->writer)
        return sw_convert_fail("%s: %s", out, strerror(errno));
    while (next_line(g)) {
        at = g->text;
        char *w = word(&at);
        if (strcmp(w, "rank"))
            return fail(g, "%s: a rank should begin here", w);
        if (!rank(g, at))
            return false;
    }
    if (g->comment)
        return fail(g, "%s", "the file ends within a comment");
    return true;
}

bool sw_goal_to_ops(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    goal_t g = {.path = in, .done = done, .cpu = -1,
                .file_order = how->file_order, .file = fopen(in, "r")};
    if (!g.file)
        return sw_convert_fail("%s: %s", in, strerror(errno));
    bool good = whole(&g, out);
    if (g.writer && good) {
        good = sw_op_writer_close(g.writer) ||
               sw_convert_fail("%s: %s", out, strerror(errno));
    } else if (g.writer) {
        sw_op_writer_drop(g.writer);
    }
    clear_rank(&g);
    fclose(g.file);
    free(g.text);
    free(g.seen);
    free(g.nodes);
    free(g.edges);
    free(g.label_texts);
    free(g.free_heap);
    free(g.waiting);
    free(g.free_requests);
    sw_lookup_free(&g.labels);
    return good;
}
