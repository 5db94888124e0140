/*
 * rules.c - the lines of a model file about collectives (model_file.h), as
 * rules. Every line is looked at as a whole before it changes anything.
 */
#include "model_file.h"
#include "rules.h"
#include "words.h"

#include "node/base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    sw_rules_t *rules;
    sw_model_t *model;
    uint32_t collectives; /* those that the line names */
    int words;
    char **word;
    char *why;
    size_t why_size;
} line_t;

__attribute__((format(printf, 2, 3))) static const char *says(
    line_t *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->why, line->why_size, format, arguments);
    va_end(arguments);
    return line->why;
}

static const uint32_t bare = 1u << SW_COLLECTIVE_OTHER |
                             1u << SW_COLLECTIVE_FENCE;
static const char no_memory[] = "no memory is left for the model";

static const char *read_collectives(line_t *line, const char *name)
{
    line->collectives = 0;
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (!strcmp(name, sw_collective_names[i]) || !strcmp(name, "all"))
            line->collectives |= 1u << i;
    if (line->collectives)
        return NULL;
    char known[512] = "all";
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++) {
        strcat(known, ", ");
        strcat(known, sw_collective_names[i]);
    }
    return says(line, "no collective is called '%.40s'; name one of %s", name,
                known);
}

/* `*`: as many as there may be. */
static bool read_whole(const char *text, uint64_t *value)
{
    *value = UINT64_MAX;
    return !strcmp(text, "*") || sw_words_integer(text, value);
}

static bool read_bound(const char *text, sw_bound_t *bound)
{
    char digits[24];
    size_t n = strlen(text);
    bound->together = n > 2 && !strcmp(text + n - 2, "/n");
    n -= bound->together ? 2 : 0;
    if (n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    return read_whole(digits, &bound->bytes);
}

/* [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]], from words[at]. */
static const char *read_range(line_t *line, int at, sw_model_rule_t *rule)
{
    rule->least_bytes = (sw_bound_t){0, false};
    rule->most_bytes = (sw_bound_t){UINT64_MAX, false};
    rule->least_ranks = 1;
    rule->most_ranks = UINT32_MAX;
    if (at == line->words)
        return NULL;
    if (line->words != at + 2 && line->words != at + 4)
        return says(line,
                    "%s %s has %d words where MIN_BYTES MAX_BYTES or "
                    "MIN_BYTES MAX_BYTES MIN_RANKS MAX_RANKS may follow",
                    line->word[0], line->word[1], line->words - at);
    char **word = line->word + at;
    for (int i = 0; i < 2; i++)
        if (!read_bound(word[i], i ? &rule->most_bytes : &rule->least_bytes))
            return says(line,
                        "'%.40s' is no number of bytes; give a whole "
                        "number, such as 4096, or 4096/n for that of all "
                        "members together, or * for no bound",
                        word[i]);
    if (rule->least_bytes.together == rule->most_bytes.together &&
        rule->least_bytes.bytes > rule->most_bytes.bytes)
        return says(line,
                    "from %.40s to %.40s there are no bytes; the "
                    "smaller number comes first",
                    word[0], word[1]);
    if (line->words == at + 2)
        return NULL;
    uint64_t ranks[2];
    for (int i = 0; i < 2; i++)
        if (!read_whole(word[i + 2], &ranks[i]))
            return says(line,
                        "'%.40s' is no number of ranks; give a whole "
                        "number, such as 64, or * for no bound",
                        word[i + 2]);
    if (ranks[0] > ranks[1])
        return says(line,
                    "from %.40s to %.40s there are no ranks; the "
                    "smaller number comes first",
                    word[2], word[3]);
    for (int i = 0; i < 2; i++)
        if (ranks[i] > UINT32_MAX)
            ranks[i] = UINT32_MAX;
    rule->least_ranks = (uint32_t)ranks[0];
    rule->most_ranks = (uint32_t)ranks[1];
    return NULL;
}

static const char *add(line_t *line, const sw_model_rule_t *rule)
{
    sw_rules_t *rules = line->rules;
    if (!sw_grow(&rules->rules, rules->count, &rules->room,
                 sizeof *rules->rules))
        return no_memory;
    rules->rules[rules->count++] = *rule;
    return NULL;
}

/* Of `all`, those that have such an algorithm. */
static const char *read_algorithm(line_t *line, const char *name,
                                  sw_model_rule_t *rule)
{
    rule->collectives = 0;
    for (uint32_t i = 0; i < SW_COLLECTIVE_COUNT; i++) {
        const sw_algorithm_t *found = NULL;
        if (line->collectives >> i & 1)
            found = sw_algorithm_named((sw_op_collective_t)i, name);
        if (found) {
            rule->collectives |= 1u << i;
            rule->algorithm = found->name;
        }
    }
    if (rule->collectives)
        return NULL;
    if (line->collectives & (line->collectives - 1))
        return says(line, "no collective has an algorithm '%.40s'", name);
    char known[256] = "";
    int what = __builtin_ctz(line->collectives);
    for (const char *const *n = sw_algorithm_names((sw_op_collective_t)what);
         *n; n++) {
        strcat(known, *known ? ", " : "");
        strcat(known, *n);
    }
    return says(line, "%s has no algorithm '%.40s'; it has %s", line->word[1],
                name, known);
}

static const char *by_algorithm(line_t *line, sw_rule_kind_t kind)
{
    sw_model_rule_t rule = {.kind = kind};
    const char *wrong = read_algorithm(line, line->word[2], &rule);
    if (!wrong)
        wrong = read_range(line, 3, &rule);
    return wrong ? wrong : add(line, &rule);
}

static const char *read_formula(line_t *line)
{
    return by_algorithm(line, SW_RULE_FORMULA);
}

static const char *read_messages(line_t *line)
{
    return by_algorithm(line, SW_RULE_MESSAGES);
}

static const char *no_time(line_t *line, const char *word)
{
    return says(line, "'%.40s' is no time; give ns, from 0 to %.0e", word,
                SW_WORDS_NS);
}

/* BYTES WAITING LEAVING, from words[at]. */
static const char *read_times(line_t *line, int at, sw_table_point_t *point)
{
    char **word = line->word + at;
    if (!sw_words_integer(word[0], &point->bytes))
        return says(line,
                    "'%.40s' is no number of bytes; give a whole "
                    "number, such as 4096",
                    word[0]);
    if (!sw_words_time(word[1], &point->waiting))
        return no_time(line, word[1]);
    if (!sw_words_time(word[2], &point->leaving))
        return no_time(line, word[2]);
    return NULL;
}

static const char *read_table(line_t *line)
{
    uint64_t ranks;
    sw_table_point_t point;
    if (!sw_words_integer(line->word[2], &ranks) || ranks < 2 ||
        ranks > UINT32_MAX)
        return says(line,
                    "'%.40s' ranks cannot have been measured; give a "
                    "whole number of at least 2",
                    line->word[2]);
    const char *wrong = read_times(line, 3, &point);
    if (wrong)
        return wrong;
    point.ranks = (uint32_t)ranks;
    uint32_t state = 0;
    if (line->words > 6 &&
        !sw_model_state_named(line->model, line->word[6], &state))
        return says(line,
                    "there is no state '%.40s'; a line 'state' stands "
                    "before what is of it",
                    line->word[6]);
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (line->collectives >> i & 1 &&
            !sw_table_add(&line->rules->tables[state][i], &point))
            return no_memory;
    return NULL;
}

/* Of `all`, those that have a table. */
static const char *by_tables(line_t *line, bool inside)
{
    sw_model_rule_t rule = {.kind = SW_RULE_MEASURED, .inside = inside};
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (line->collectives >> i & 1 && line->rules->tables[0][i].count)
            rule.collectives |= 1u << i;
    if (!rule.collectives)
        return says(line,
                    "nothing was measured of %s; its lines 'table' "
                    "stand before '%s'",
                    line->word[1], line->word[0]);
    const char *wrong = read_range(line, 2, &rule);
    if (!wrong && inside)
        line->rules->spread = true;
    return wrong ? wrong : add(line, &rule);
}

static const char *read_measured(line_t *line)
{
    return by_tables(line, false);
}

static const char *read_inside(line_t *line)
{
    return by_tables(line, true);
}

/* The rule of one collective and shape; its first line makes it. NULL: no
 * memory. */
static sw_model_rule_t *span_rule(line_t *line, uint32_t collective,
                                  uint32_t nodes, uint32_t most)
{
    sw_rules_t *rules = line->rules;
    for (uint32_t i = rules->count; i-- > 0;) {
        sw_model_rule_t *rule = &rules->rules[i];
        if (rule->kind == SW_RULE_SPAN && rule->collectives == collective &&
            rule->nodes == nodes && rule->most == most)
            return rule;
    }
    sw_model_rule_t rule = {.kind = SW_RULE_SPAN,
                            .collectives = collective,
                            .nodes = nodes,
                            .most = most};
    read_range(line, line->words, &rule);
    return add(line, &rule) ? NULL : &rules->rules[rules->count - 1];
}

static const char *read_span_table(line_t *line)
{
    uint64_t nodes, most;
    sw_table_point_t point;
    if (!sw_words_integer(line->word[2], &nodes) || nodes < 2 ||
        !sw_words_integer(line->word[3], &most) || most < 1 ||
        most > UINT32_MAX / nodes)
        return says(line,
                    "%.40s nodes of %.40s ranks are no span; give 2 "
                    "nodes or more, and the ranks on each",
                    line->word[2], line->word[3]);
    const char *wrong = read_times(line, 4, &point);
    if (wrong)
        return wrong;
    point.ranks = (uint32_t)(nodes * most);
    line->rules->spread = true;
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++) {
        if (!(line->collectives >> i & 1))
            continue;
        sw_model_rule_t *rule = span_rule(line, 1u << i, (uint32_t)nodes,
                                          (uint32_t)most);
        if (!rule || !sw_table_add(&rule->table, &point))
            return no_memory;
    }
    return NULL;
}

static const char *read_leaders(line_t *line)
{
    sw_model_rule_t rule = {.kind = SW_RULE_LEADERS,
                            .collectives = line->collectives & ~bare};
    if (!rule.collectives)
        return says(line, "%s has no leaders", line->word[1]);
    read_range(line, line->words, &rule);
    line->rules->spread = true;
    return add(line, &rule);
}

static const char *read_offload(line_t *line)
{
    sw_model_rule_t rule = {.kind = SW_RULE_OFFLOAD,
                            .collectives = line->collectives};
    read_range(line, line->words, &rule);
    if (!sw_words_time(line->word[2], &rule.posting))
        return no_time(line, line->word[2]);
    if (!sw_words_time(line->word[3], &rule.round))
        return no_time(line, line->word[3]);
    if (!sw_words_rate(line->word[4], &rule.byte))
        return says(line,
                    "'%.40s' is no speed; give ns a byte, from 0 to "
                    "%.0e",
                    line->word[4], SW_WORDS_NS_A_BYTE);
    return add(line, &rule);
}

static const char *read_started(line_t *line)
{
    static const double most[] = {1e6, 1e6, 1e6, 1, 1};
    sw_started_point_t point;
    double *part[] = {&point.start, &point.shared, &point.own, &point.aside,
                      &point.held};
    if (!sw_words_integer(line->word[2], &point.bytes))
        return says(line,
                    "'%.40s' is no number of bytes; give a whole "
                    "number, such as 4096",
                    line->word[2]);
    for (int i = 0; i < 5; i++)
        if (!sw_words_real(line->word[3 + i], most[i], part[i]))
            return says(line,
                        "'%.40s' is no part; give a number from 0 to "
                        "%g",
                        line->word[3 + i], most[i]);
    line->rules->spread = true;
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (line->collectives >> i & 1 &&
            !sw_started_add(&line->rules->started[i], &point))
            return no_memory;
    return NULL;
}

static const char *read_later(line_t *line)
{
    /* A communicator must be made before the rank goes on, and a fence is for
     * what comes after it. */
    uint32_t later = line->collectives & ~bare;
    if (!later)
        return says(line, "%s cannot be completed later", line->word[1]);
    line->model->later |= later;
    return NULL;
}

static const char *read_free(line_t *line)
{
    sw_model_rule_t rule = {.kind = SW_RULE_FREE,
                            .collectives = line->collectives};
    read_range(line, line->words, &rule);
    return add(line, &rule);
}

static const char *read_scale(line_t *line)
{
    double factor;
    if (!sw_words_real(line->word[2], 1e9, &factor))
        return says(line,
                    "'%.40s' is no factor; give a number from 0 to 1e9, "
                    "such as 0.5",
                    line->word[2]);
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (line->collectives >> i & 1)
            line->rules->scale[i] = factor;
    return NULL;
}

static const struct {
    const char *name;
    const char *(*read)(line_t *line);
    int least, most; /* words, with the name */
    const char *form;
} forms[] = {
    {"formula", read_formula, 3, 7,
     "formula OP ALGORITHM "
     "[MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]"},
    {"messages", read_messages, 3, 7,
     "messages OP ALGORITHM "
     "[MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]"},
    {"table", read_table, 6, 7, "table OP RANKS BYTES WAITING LEAVING [STATE]"},
    {"measured", read_measured, 2, 6,
     "measured OP [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]"},
    {"inside", read_inside, 2, 6,
     "inside OP [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]"},
    {"span_table", read_span_table, 7, 7,
     "span_table OP NODES RANKS BYTES WAITING LEAVING"},
    {"leaders", read_leaders, 2, 2, "leaders OP"},
    {"offload", read_offload, 5, 5, "offload OP POSTING ROUND NS_A_BYTE"},
    {"started", read_started, 8, 8,
     "started OP BYTES START SHARED OWN ASIDE HELD"},
    {"later", read_later, 2, 2, "later OP"},
    {"free", read_free, 2, 2, "free OP"},
    {"scale", read_scale, 3, 3, "scale OP FACTOR"},
};

static sw_rules_t *rules_new(void)
{
    sw_rules_t *rules = calloc(1, sizeof *rules);
    for (int i = 0; rules && i < SW_COLLECTIVE_COUNT; i++)
        rules->scale[i] = 1;
    return rules;
}

const char *sw_rules_line(sw_model_t *model, int words, char **word, char *why,
                          size_t why_size)
{
    line_t line = {.model = model,
                   .words = words,
                   .word = word,
                   .why = why,
                   .why_size = why_size};
    for (size_t i = 0; words > 0 && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(word[0], forms[i].name))
            continue;
        if (words < forms[i].least || words > forms[i].most)
            return says(&line, "%d words do not make a line '%s'", words,
                        forms[i].form);
        const char *wrong = read_collectives(&line, word[1]);
        if (wrong)
            return wrong;
        if (!model->rules)
            model->rules = rules_new();
        line.rules = model->rules;
        if (!line.rules)
            return no_memory;
        for (int k = 0; k < SW_PLANNED; k++)
            line.rules->planned[k].known = false;
        return forms[i].read(&line);
    }
    return says(&line, "no line of a model begins with '%.40s'",
                words > 0 ? word[0] : "");
}

void sw_rules_free(sw_rules_t *rules)
{
    if (!rules)
        return;
    for (int k = 0; k < SW_STATES; k++)
        for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
            free(rules->tables[k][i].points);
    for (int i = 0; i < SW_COLLECTIVE_COUNT; i++)
        free(rules->started[i].points);
    for (uint32_t i = 0; i < rules->count; i++)
        free(rules->rules[i].table.points);
    free(rules->rules);
    free(rules);
}

static bool within(const sw_model_rule_t *rule, const sw_call_t *call)
{
    uint64_t all = call->bytes > UINT64_MAX / call->n ? UINT64_MAX
                                                      : call->bytes * call->n;
    const sw_bound_t *least = &rule->least_bytes, *most = &rule->most_bytes;
    if ((rule->inside && call->nodes != 1) ||
        (rule->kind == SW_RULE_SPAN &&
         (call->nodes != rule->nodes || call->most != rule->most)) ||
        (rule->kind == SW_RULE_LEADERS && (call->nodes < 2 || call->most < 2)))
        return false;
    return call->n >= rule->least_ranks && call->n <= rule->most_ranks &&
           (least->together ? all : call->bytes) >= least->bytes &&
           (most->together ? all : call->bytes) <= most->bytes;
}

const sw_model_rule_t *sw_rules_find(const sw_rules_t *rules,
                                     const sw_call_t *call)
{
    for (size_t i = rules->count; i-- > 0;)
        if (rules->rules[i].collectives >> call->what & 1 &&
            within(&rules->rules[i], call))
            return &rules->rules[i];
    return NULL;
}

const sw_model_rule_t *sw_rules_find_part(const sw_rules_t *rules,
                                          const sw_call_t *call)
{
    for (size_t i = rules->count; i-- > 0;) {
        const sw_model_rule_t *rule = &rules->rules[i];
        if (rule->kind != SW_RULE_FREE && rule->kind != SW_RULE_OFFLOAD &&
            rule->kind != SW_RULE_LEADERS &&
            rule->collectives >> call->what & 1 && within(rule, call))
            return rule;
    }
    return NULL;
}
