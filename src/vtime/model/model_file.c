/*
 * model_file.c - see model_file.h.
 *
 * The reader splits a line into words. The first says what the line is, and a
 * function reads the others: it returns what is wrong with them, or NULL. What
 * depends on several lines (places by rank, the network's size) waits for the
 * end. The reader checks everything in the file.
 */
#include "model_file.h"
#include "network.h"
#include "words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this an engine's ranks fit into no machine. */
#define RANKS_MOST (1u << 24)
#define WORDS_MOST 64
#define NOWHERE UINT32_MAX

typedef struct {
    sw_model_t *model;
    char *why;
    size_t why_size;
    unsigned long line, network_line;
    bool has_ranks, has_place;
    bool has_link[SW_CLASS_COUNT];
    char *network; /* its line's words */
} reading_t;

typedef const char *(*line_t)(reading_t *r, int words, char **word);

static const char *says(reading_t *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *says(reading_t *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->why, r->why_size, format, list);
    va_end(list);
    return r->why;
}

static const char *no_whole(reading_t *r, const char *what, const char *word,
                            unsigned long long least, unsigned long long most)
{
    return says(r, "%s must be a whole number from %llu to %llu, not %.60s",
                what, least, most, word);
}

static const char *whole(reading_t *r, const char *what, const char *word,
                         uint64_t least, uint64_t most, uint32_t *value)
{
    uint64_t number;
    if (!sw_words_integer(word, &number) || number < least || number > most)
        return no_whole(r, what, word, least, most);
    *value = (uint32_t)number;
    return NULL;
}

static const char *time_of(reading_t *r, const char *what, const char *word,
                           sw_ps_t *ps)
{
    if (sw_words_time(word, ps))
        return NULL;
    return says(r, "%s must be a time in ns, from 0 to %g, not %.60s", what,
                SW_WORDS_NS, word);
}

static const char *rate_of(reading_t *r, const char *what, const char *word,
                           double *ps_a_byte)
{
    if (sw_words_rate(word, ps_a_byte))
        return NULL;
    return says(r, "%s must be ns a byte, from 0 to %g, not %.60s", what,
                SW_WORDS_NS_A_BYTE, word);
}

static const char *no_memory = "there is no memory left";

static const char *read_ranks(reading_t *r, int words, char **word)
{
    uint32_t ranks = 0;
    if (r->has_ranks)
        return "ranks is given twice";
    const char *wrong = whole(r, "ranks", word[1], 1, RANKS_MOST, &ranks);
    r->has_ranks = true;
    r->model->ranks = ranks;
    r->model->places.per_node = ranks;
    return wrong;
}

static const char *read_place(reading_t *r, int words, char **word)
{
    sw_model_places_t *places = &r->model->places;
    if (r->has_place)
        return "place is given twice";
    r->has_place = true;
    const char *wrong = whole(r, "the ranks of a node", word[1], 1, UINT32_MAX,
                              &places->per_node);
    return wrong ? wrong
                 : whole(r, "the ranks of a domain", word[2], 0, UINT32_MAX,
                         &places->per_domain);
}

static const char *read_place_rank(reading_t *r, int words, char **word)
{
    sw_model_places_t *places = &r->model->places;
    uint32_t rank = 0, node = 0, domain = 0;
    size_t ranks = r->model->ranks;
    const char *wrong = whole(r, "the rank", word[1], 0, ranks - 1, &rank);
    if (!wrong)
        wrong = whole(r, "the node", word[2], 0, ranks - 1, &node);
    if (!wrong)
        wrong = whole(r, "the domain", word[3], 0, NOWHERE - 1, &domain);
    if (wrong)
        return wrong;
    if (!places->node) {
        places->node = malloc(ranks * sizeof *places->node);
        places->domain = malloc(ranks * sizeof *places->domain);
        if (!places->node || !places->domain)
            return no_memory;
        memset(places->node, 0xff, ranks * sizeof *places->node);
    }
    if (places->node[rank] != NOWHERE)
        return says(r, "rank %u has two places", rank);
    places->node[rank] = node;
    places->domain[rank] = domain;
    return NULL;
}

static const char *class_of(reading_t *r, const char *word,
                            sw_model_link_t **link)
{
    static const char *const names[] = {"self", "domain", "node", "network"};
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        if (!strcmp(word, names[i])) {
            *link = &r->model->links[i];
            r->has_link[i] = true;
            return NULL;
        }
    return says(r,
                "there is no link %.60s; there are self, domain, node and "
                "network",
                word);
}

static const char *link_value(reading_t *r, sw_model_link_t *link,
                              const char *key, const char *word)
{
    const struct {
        const char *name;
        sw_ps_t *time;
        double *rate;
    } keys[] = {
        {"o_send", &link->o_send, NULL}, {"o_recv", &link->o_recv, NULL},
        {"L", &link->L, NULL},           {"g", &link->g, NULL},
        {"O_send", NULL, &link->O_send}, {"O_recv", NULL, &link->O_recv},
        {"G", NULL, &link->G},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i].name))
            return keys[i].time ? time_of(r, key, word, keys[i].time)
                                : rate_of(r, key, word, keys[i].rate);
    if (strcmp(key, "S"))
        return says(r,
                    "a link has no key %.60s; it has o_send, o_recv, L, g, "
                    "O_send, O_recv, G and S",
                    key);
    return sw_words_integer(word, &link->S)
               ? NULL
               : no_whole(r, key, word, 0, UINT64_MAX);
}

static const char *read_link(reading_t *r, int words, char **word)
{
    sw_model_link_t *link = NULL;
    const char *wrong = class_of(r, word[1], &link);
    for (int i = 2; !wrong && i < words; i += 2)
        wrong = i + 1 < words ? link_value(r, link, word[i], word[i + 1])
                              : says(r, "%.60s has no value", word[i]);
    return wrong;
}

static const char *read_state(reading_t *r, int words, char **word)
{
    sw_model_t *model = r->model;
    uint64_t number;
    sw_state_t state;
    if (!sw_words_integer(word[1], &number) || number != model->state_count ||
        number >= SW_STATES)
        return says(r,
                    "states are numbered from 1 to %d, in order; here "
                    "%.60s cannot be",
                    SW_STATES - 1, word[1]);
    const char *wrong = time_of(r, "a state", word[2], &state.after);
    if (wrong)
        return wrong;
    if (!sw_words_rate(word[3], &state.after_byte))
        return says(r, "'%.60s' is no speed; give ns a byte, from 0 to %.0e",
                    word[3], SW_WORDS_NS_A_BYTE);
    model->states[model->state_count++] = state;
    return NULL;
}

/* CLASS BYTES SEND WIRE GAP RECEIVE */
static const char *read_costs(reading_t *r, char **word, sw_model_link_t **link,
                              sw_link_point_t *point)
{
    const char *wrong = class_of(r, word[1], link);
    if (!wrong && !sw_words_integer(word[2], &point->bytes))
        wrong = no_whole(r, "the bytes of a point", word[2], 0, UINT64_MAX);
    if (!wrong)
        wrong = time_of(r, "sending", word[3], &point->send);
    if (!wrong)
        wrong = time_of(r, "the wire", word[4], &point->wire);
    if (!wrong)
        wrong = time_of(r, "the gap", word[5], &point->gap);
    if (!wrong)
        wrong = time_of(r, "receiving", word[6], &point->receive);
    return wrong;
}

static const char *add_point(reading_t *r, sw_link_point_t **points,
                             uint32_t *count, const sw_link_point_t *point)
{
    uint32_t n = *count;
    if (n && (*points)[n - 1].bytes >= point->bytes)
        return says(r,
                    "points must come by their bytes, each once; %llu "
                    "comes after %llu",
                    (unsigned long long)point->bytes,
                    (unsigned long long)(*points)[n - 1].bytes);
    if (!(n & (n - 1))) { /* room for twice as many */
        sw_link_point_t *more = realloc(*points,
                                        (n ? 2 * (size_t)n : 1) * sizeof *more);
        if (!more)
            return no_memory;
        *points = more;
    }
    (*points)[n] = *point;
    *count = n + 1;
    return NULL;
}

static const char *read_given(reading_t *r, int words, char **word)
{
    sw_model_link_t *link = NULL;
    sw_link_point_t point = {0};
    const char *wrong = read_costs(r, word, &link, &point);
    if (!wrong && link == &r->model->links[SW_CLASS_NETWORK])
        return "blocks change hands within a node only, on no network";
    return wrong ? wrong
                 : add_point(r, &link->given, &link->given_count, &point);
}

static const char *read_point(reading_t *r, int words, char **word)
{
    sw_model_link_t *link = NULL;
    sw_link_point_t point = {0};
    const char *wrong = read_costs(r, word, &link, &point);
    if (wrong)
        return wrong;
    uint32_t state = 0;
    if (words > 7 && !sw_model_state_named(r->model, word[7], &state))
        return says(r,
                    "there is no state '%.60s'; a line 'state' stands "
                    "before what is of it",
                    word[7]);
    if (state && !link->point_count[0])
        return says(r, "points of a state come after those without one");
    return add_point(r, &link->points[state], &link->point_count[state],
                     &point);
}

static const char *memory_of(reading_t *r, const char *word,
                             sw_memory_t *memory)
{
    for (int m = 0; m < SW_MEMORY_COUNT; m++)
        if (!strcmp(word, sw_memory_names[m])) {
            *memory = (sw_memory_t)m;
            return NULL;
        }
    return says(r, "a window's memory is created or allocated, not %.60s",
                word);
}

static const char *access_of(reading_t *r, const char *word, sw_window_t *what)
{
    for (int i = SW_WINDOW_PUT; i <= SW_WINDOW_FETCH; i++)
        if (!strcmp(word, sw_window_names[i])) {
            *what = (sw_window_t)i;
            return NULL;
        }
    return says(r,
                "there is no access %.60s; there are put, accumulate, get "
                "and fetch",
                word);
}

static const char *read_access(reading_t *r, int words, char **word)
{
    sw_memory_t memory = SW_MEMORY_CREATED;
    sw_window_t what = SW_WINDOW_PUT;
    sw_access_point_t point = {0};
    const char *wrong = memory_of(r, word[1], &memory);
    if (!wrong)
        wrong = access_of(r, word[2], &what);
    if (!wrong && !sw_words_integer(word[3], &point.bytes))
        wrong = no_whole(r, "the bytes of an access", word[3], 0, UINT64_MAX);
    if (!wrong)
        wrong = time_of(r, "the call", word[4], &point.call);
    if (!wrong)
        wrong = time_of(r, "the rest", word[5], &point.rest);
    return wrong ? wrong
                 : sw_accesses_add(&r->model->accesses, memory, what, &point);
}

static const char *read_locks(reading_t *r, int words, char **word)
{
    sw_accesses_t *accesses = &r->model->accesses;
    sw_memory_t memory = SW_MEMORY_CREATED;
    const char *wrong = memory_of(r, word[1], &memory);
    if (!wrong)
        wrong = time_of(r, "a lock", word[2], &accesses->lock[memory]);
    if (!wrong)
        wrong = time_of(r, "an unlock", word[3], &accesses->unlock[memory]);
    if (!wrong)
        accesses->has_locks[memory] = true;
    return wrong;
}

/* Made when it is known how many nodes there are. */
static const char *read_network(reading_t *r, int words, char **word)
{
    if (r->network)
        return "network is given twice";
    size_t size = 1;
    for (int i = 1; i < words; i++)
        size += strlen(word[i]) + 1;
    r->network = calloc(1, size);
    if (!r->network)
        return no_memory;
    char *at = r->network;
    for (int i = 1; i < words; i++)
        at += sprintf(at, "%s ", word[i]);
    r->network_line = r->line;
    return NULL;
}

static const char *read_noise(reading_t *r, int words, char **word)
{
    sw_noise_t *noise = &r->model->noise;
    const char *wrong = time_of(r, "the period", word[1], &noise->period);
    if (!wrong)
        wrong = time_of(r, "the duration", word[2], &noise->duration);
    if (!wrong && !sw_words_integer(word[3], &noise->seed))
        wrong = no_whole(r, "the seed", word[3], 0, UINT64_MAX);
    if (wrong || !noise->period)
        return wrong;
    if (noise->period < 1000 * SW_PS_PER_NS)
        return "noise needs a period of at least 1000 ns, or 0 for none";
    return noise->duration < noise->period
               ? NULL
               : "noise that lasts as long as its period leaves no time to "
                 "compute; "
                 "the duration must be below the period";
}

static const char *read_speed(reading_t *r, int words, char **word)
{
    double *speed = &r->model->cpu_speed;
    if (sw_words_real(word[1], 1e9, speed) && *speed >= 1e-9)
        return NULL;
    return says(r, "cpu_speed must be a factor from 1e-9 to 1e9, not %.60s",
                word[1]);
}

static const char *read_node_speed(reading_t *r, int words, char **word)
{
    sw_model_t *model = r->model;
    uint32_t node = 0;
    double speed;
    const char *wrong = whole(r, "the node", word[1], 0, model->ranks - 1,
                              &node);
    if (wrong)
        return wrong;
    if (!sw_words_real(word[2], 1e9, &speed) || speed < 1e-9)
        return says(r,
                    "node_speed must be a factor from 1e-9 to 1e9, not "
                    "%.60s",
                    word[2]);
    if (!model->node_speed) {
        model->node_speed = malloc(model->ranks * sizeof *model->node_speed);
        if (!model->node_speed)
            return no_memory;
        for (uint32_t i = 0; i < model->ranks; i++)
            model->node_speed[i] = 1;
    }
    model->node_speed[node] = speed;
    return NULL;
}

static const char *read_reduce(reading_t *r, int words, char **word)
{
    return rate_of(r, "reduce", word[1], &r->model->reduce);
}

static const char *read_test(reading_t *r, int words, char **word)
{
    return time_of(r, "test", word[1], &r->model->test);
}

static const char *read_loggopsim(reading_t *r, int words, char **word)
{
    r->model->loggopsim = true;
    return NULL;
}

static const char *read_rule(reading_t *r, int words, char **word)
{
    return sw_rules_line(r->model, words, word, r->why, r->why_size);
}

static const struct {
    const char *name;
    line_t read;
    int least, most; /* words after the name */
    const char *form;
} lines[] = {
    {"ranks", read_ranks, 1, 1, "ranks N"},
    {"place", read_place, 2, 2, "place PER_NODE PER_DOMAIN"},
    {"place_rank", read_place_rank, 3, 3, "place_rank RANK NODE DOMAIN"},
    {"link", read_link, 1, WORDS_MOST, "link CLASS KEY VALUE ..."},
    {"point", read_point, 6, 7,
     "point CLASS BYTES SEND WIRE GAP RECEIVE [STATE]"},
    {"given", read_given, 6, 6, "given CLASS BYTES SEND WIRE GAP RECEIVE"},
    {"state", read_state, 3, 3, "state NUMBER NS NS_A_BYTE"},
    {"access", read_access, 5, 5, "access MEMORY OP BYTES CALL REST"},
    {"locks", read_locks, 3, 3, "locks MEMORY LOCK UNLOCK"},
    {"network", read_network, 1, WORDS_MOST, "network KIND KEY VALUE ..."},
    {"noise", read_noise, 3, 3, "noise PERIOD DURATION SEED"},
    {"cpu_speed", read_speed, 1, 1, "cpu_speed FACTOR"},
    {"node_speed", read_node_speed, 2, 2, "node_speed NODE FACTOR"},
    {"reduce", read_reduce, 1, 1, "reduce NS_A_BYTE"},
    {"test", read_test, 1, 1, "test NS"},
    {"loggopsim", read_loggopsim, 0, 0, "loggopsim"},
    {"formula", read_rule, 0, WORDS_MOST, NULL},
    {"messages", read_rule, 0, WORDS_MOST, NULL},
    {"table", read_rule, 0, WORDS_MOST, NULL},
    {"measured", read_rule, 0, WORDS_MOST, NULL},
    {"inside", read_rule, 0, WORDS_MOST, NULL},
    {"span_table", read_rule, 0, WORDS_MOST, NULL},
    {"leaders", read_rule, 0, WORDS_MOST, NULL},
    {"offload", read_rule, 0, WORDS_MOST, NULL},
    {"started", read_rule, 0, WORDS_MOST, NULL},
    {"later", read_rule, 0, WORDS_MOST, NULL},
    {"free", read_rule, 0, WORDS_MOST, NULL},
    {"scale", read_rule, 0, WORDS_MOST, NULL},
};

static int split(char *text, char **word)
{
    int words = 0;
    char *rest = NULL;
    text[strcspn(text, "#")] = 0;
    for (char *at = strtok_r(text, " \t\r\n", &rest); at;
         at = strtok_r(NULL, " \t\r\n", &rest)) {
        if (words == WORDS_MOST)
            return WORDS_MOST + 1;
        word[words++] = at;
    }
    return words;
}

static const char *read_line(reading_t *r, char *text, size_t length)
{
    if (memchr(text, 0, length))
        return "there is a byte 0; a model is text";
    char *word[WORDS_MOST + 1] = {NULL};
    size_t i = 0, count = sizeof lines / sizeof *lines;
    int words = split(text, word);
    if (words > WORDS_MOST)
        return says(r, "there are more than %d words", WORDS_MOST);
    if (!words)
        return NULL;
    while (i < count && strcmp(word[0], lines[i].name))
        i++;
    if (i == count)
        return says(r, "a model has no line %.60s", word[0]);
    if (words - 1 < lines[i].least || words - 1 > lines[i].most)
        return says(r, "this line must be: %s", lines[i].form);
    if (!r->has_ranks && lines[i].read != read_ranks)
        return "the first line must be: ranks N";
    return lines[i].read(r, words, word);
}

static bool copy(sw_link_point_t **points, uint32_t count)
{
    if (!*points)
        return true;
    sw_link_point_t *own = malloc(count * sizeof *own);
    if (own)
        memcpy(own, *points, count * sizeof *own);
    *points = own;
    return own;
}

/* A class without a line takes the link of the next wider one that has any. */
static bool widen(reading_t *r)
{
    for (int i = SW_CLASS_NETWORK - 1; i >= 0; i--) {
        if (r->has_link[i] || !r->has_link[i + 1])
            continue;
        sw_model_link_t *link = &r->model->links[i];
        *link = r->model->links[i + 1];
        r->has_link[i] = true;
        bool good = copy(&link->given, link->given_count);
        for (int k = 0; k < SW_STATES; k++)
            good &= copy(&link->points[k], link->point_count[k]);
        if (!good)
            return false;
    }
    return true;
}

/* What waited for all lines. */
static const char *finish(reading_t *r)
{
    sw_model_t *model = r->model;
    sw_model_places_t *places = &model->places;
    r->line = 0;
    if (!r->has_ranks)
        return "there is no line: ranks N";
    for (uint32_t rank = 0; places->node && rank < model->ranks; rank++)
        if (places->node[rank] == NOWHERE) {
            uint32_t by = places->per_domain ? places->per_domain : NOWHERE;
            places->node[rank] = rank / places->per_node;
            places->domain[rank] = rank % places->per_node / by;
        }
    if (!widen(r))
        return no_memory;
    if (!r->network)
        return NULL;
    r->line = r->network_line;
    if (model->loggopsim)
        return "LogGOPSim's rule has no network whose links messages share";
    char *word[WORDS_MOST + 1];
    int words = split(r->network, word);
    model->network = sw_network_make(sw_model_nodes(model), words, word, r->why,
                                     r->why_size);
    if (!model->network)
        return r->why;
    const sw_model_link_t *link = &model->links[SW_CLASS_NETWORK];
    sw_network_ends(model->network,
                    link->point_count[0] ? link->points[0]->wire : link->L);
    return NULL;
}

bool sw_model_read(sw_model_t *model, const char *path, char *why,
                   size_t why_size)
{
    char reason[512], *text = NULL;
    reading_t r = {.model = model, .why = reason, .why_size = sizeof reason};
    const char *wrong = NULL;
    size_t room = 0;
    ssize_t length;
    sw_model_init(model, 1);
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        return false;
    }
    errno = 0;
    while (!wrong && (length = getline(&text, &room, file)) >= 0) {
        r.line++;
        wrong = read_line(&r, text, (size_t)length);
    }
    if (!wrong && !feof(file)) {
        r.line = 0;
        wrong = strerror(errno);
    }
    if (!wrong)
        wrong = finish(&r);
    fclose(file);
    free(text);
    free(r.network);
    if (!wrong)
        return true;
    char place[32] = "";
    if (r.line)
        snprintf(place, sizeof place, ", line %lu", r.line);
    snprintf(why, why_size, "%s%s: %s", path, place, wrong);
    sw_model_free(model);
    return false;
}
