/*
 * goal_read.c - GOAL (see goal_write.c) into operations.
 *
 * A rank's operations there are a graph. goal_order.c puts them into the one
 * order that it allows, or writes the graph. This file reads the text.
 *
 * An operation without "cpu" is the first processor's, cpu 0. Network
 * interfaces ("nic") are not told apart.
 */
#include "goal_order.h"
#include "vtime/base/lookup.h"
#include "node/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

typedef struct {
    FILE *file;
    char *text; /* the line at hand */
    size_t text_room;
    uint64_t line;
    bool comment; /* of several lines */
    uint32_t ranks;
    unsigned char *seen;   /* ranks that were there */
    sw_goal_graph_t graph; /* of the rank at hand */
    sw_lookup_t labels;    /* a hash of the label -> its node, and 1 */
    char **label_texts;    /* by node */
} goal_t;

bool sw_goal_no_memory(const char *path)
{
    return sw_convert_fail("%s: no memory", path);
}

static bool fail(const goal_t *g, const char *form, const char *what)
{
    return sw_convert_fail_at(g->graph.path, g->line, form, what);
}

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
    if (!node || !(g->label_texts[g->graph.node_count - 1] = strdup(label)))
        return sw_goal_no_memory(g->graph.path);
    *node = g->graph.node_count;
    return true;
}

static bool new_node(goal_t *g, uint8_t kind)
{
    sw_goal_graph_t *graph = &g->graph;
    uint32_t n = graph->node_count, room = graph->node_room;
    if (!sw_grow(&graph->nodes, n, &graph->node_room, sizeof *graph->nodes) ||
        !sw_grow(&g->label_texts, n, &room, sizeof *g->label_texts))
        return sw_goal_no_memory(graph->path);
    graph->nodes[n] = (sw_goal_node_t){.kind = kind, .line = g->line};
    g->label_texts[n] = NULL;
    graph->node_count++;
    return true;
}

/* What may stand behind an operation. */
static bool options(goal_t *g, sw_goal_node_t *node, char **at)
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
        } else if (!sw_convert_number(w, "", tag ? INT32_MAX : 65535, &n)) {
            return fail(g, "%s is no number that can be here", w);
        } else if (tag) {
            node->tag = (int32_t)n;
        } else if (cpu) {
            node->cpu = (uint16_t)n;
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
    if (!new_node(g, sends      ? SW_OP_SEND
                     : computes ? SW_OP_COMPUTE
                                : SW_OP_RECV))
        return false;
    sw_goal_node_t *node = &g->graph.nodes[g->graph.node_count - 1];
    char *w = word(at);
    if (!sw_convert_number(w, computes ? "" : "b", (uint64_t)1 << 48, &size))
        return fail(
            g, computes ? "%s is no time in ns" : "%s is no size, as in 100b",
            w);
    node->size = size;
    if (computes)
        return options(g, node, at);
    w = word(at);
    if (strcmp(w, sends ? "to" : "from"))
        return fail(g,
                    sends ? "%s: `to` should stand here"
                          : "%s: `from` should stand here",
                    w);
    w = word(at);
    if (!sends && !strcmp(w, "-1"))
        node->peer = SW_OP_ANY;
    else if (sw_convert_number(w, "", g->ranks - 1, &peer))
        node->peer = (int32_t)peer;
    else
        return fail(g, "there is no rank %s", w);
    return options(g, node, at);
}

static bool depends(goal_t *g, uint32_t to, bool over, char **at)
{
    sw_goal_graph_t *graph = &g->graph;
    uint64_t key;
    char *w = word(at);
    uint32_t from = labelled(g, w, &key);
    if (from == NOBODY)
        return fail(g, "there is no label %s before", w);
    if (*word(at))
        return fail(g, "%s", "one label is required in a line");
    if (!sw_grow(&graph->edges, graph->edge_count, &graph->edge_room,
                 sizeof *graph->edges))
        return sw_goal_no_memory(graph->path);
    sw_goal_edge_t *edge = &graph->edges[graph->edge_count++];
    *edge = (sw_goal_edge_t){.from = from,
                             .to = to,
                             .over = over,
                             .next = graph->nodes[from].successors,
                             .next_in = graph->nodes[to].predecessors};
    graph->nodes[from].successors = graph->edge_count;
    graph->nodes[to].predecessors = graph->edge_count;
    graph->nodes[to].unissued++;
    graph->nodes[to].waits += over;
    return true;
}

static void clear_rank(goal_t *g)
{
    for (uint32_t i = 0; i < g->graph.node_count; i++)
        free(g->label_texts[i]);
    g->graph.node_count = g->graph.edge_count = 0;
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
        return fail(g,
                    "%s: a colon, requires or irequires should stand "
                    "behind a label",
                    *w ? w : first);
    uint32_t to = labelled(g, first, &key);
    if (to == NOBODY)
        return fail(g, "there is no label %s before", first);
    return depends(g, to, over, &at);
}

static bool put(goal_t *g)
{
    sw_goal_graph_t *graph = &g->graph;
    graph->cpus = false;
    for (uint32_t i = 1; i < graph->node_count; i++)
        graph->cpus |= graph->nodes[i].cpu != graph->nodes[0].cpu;
    return sw_goal_put_rank(graph);
}

static bool rank(goal_t *g, char *at)
{
    uint64_t n;
    char *w = word(&at);
    if (!sw_convert_number(w, "", g->ranks - 1, &n) || g->seen[n])
        return fail(g, "rank %s is not there, or was before", w);
    g->seen[n] = 1;
    g->graph.rank = (uint32_t)n;
    if (strcmp(word(&at), "{") || *word(&at))
        return fail(g, "%s", "a line ends with { behind a rank's number");
    clear_rank(g);
    while (next_line(g)) {
        char *from = g->text, *brace = word(&from);
        if (!strcmp(brace, "}"))
            return put(g);
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
        !sw_convert_number(word(&at), "", INT32_MAX, &n) || !n)
        return fail(g, "%s", "a GOAL file begins with num_ranks N");
    g->ranks = (uint32_t)n;
    g->seen = calloc(g->ranks, 1);
    if (!g->seen)
        return sw_goal_no_memory(g->graph.path);
    g->graph.writer = sw_convert_writer(out, g->ranks, "from GOAL");
    if (!g->graph.writer)
        return false;
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
    goal_t g = {.file = fopen(in, "r"),
                .graph = {.path = in,
                          .done = done,
                          .graph = how->graph,
                          .file_order = how->file_order}};
    if (!g.file)
        return sw_convert_fail("%s: %s", in, strerror(errno));
    bool good = whole(&g, out);
    good = sw_convert_close(g.graph.writer, good, out);
    clear_rank(&g);
    fclose(g.file);
    free(g.text);
    free(g.seen);
    free(g.graph.nodes);
    free(g.graph.edges);
    free(g.label_texts);
    sw_lookup_free(&g.labels);
    return good;
}
