/*
 * smpi_read.c - time-independent traces (see smpi_write.c) into operations.
 *
 * IN is a list of files, one for each rank in their order, or one file that
 * has all ranks' actions. Words are those that SimGrid 4 knows; smpi_actions.c
 * has what they mean. Sizes count elements of the datatype that an action
 * names. Without one they count bytes, or doubles after `init` with a word
 * behind it. Flops become time by how->flops; a sleep is in seconds.
 *
 * A receive without a size has that of its message. A test that finds nothing
 * costs nothing: the `wait` behind it waits for what it tested.
 */
#include "smpi_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool read_actions(sw_smpi_t *s, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    uint64_t rank;
    bool good = true;
    if (!file)
        return sw_smpi_fail(s, "%s cannot be read", path);
    const char *before = s->path;
    uint64_t line = s->line;
    s->path = path;
    s->line = 0;
    while (good && getline(&text, &room, file) >= 0) {
        s->line++;
        if (is_empty(text))
            continue;
        good = (rank_of(text, &rank) && rank < s->ranks) ||
               sw_smpi_fail(s, "%s", "a line begins with a rank that is there");
        good = good && sw_smpi_split(s, text) &&
               sw_smpi_action(s, (uint32_t)rank);
    }
    good = good &&
           (!ferror(file) || sw_smpi_fail(s, "%s", "it cannot be read"));
    free(text);
    fclose(file);
    s->path = before;
    s->line = line;
    return good;
}

/* IN: how many ranks, and is it a list? */
static bool look(sw_smpi_t *s, const char *in, bool *list)
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
                               "time-independent trace",
                               in);
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
static bool read_list(sw_smpi_t *s, const char *in)
{
    FILE *file = fopen(in, "r");
    char *text = NULL, *path = NULL;
    size_t room = 0;
    const char *slash = strrchr(in, '/');
    size_t folder = slash ? (size_t)(slash - in) + 1 : 0;
    bool good = file != NULL || sw_smpi_fail(s, "%s cannot be read", in);
    s->path = in;
    while (good && getline(&text, &room, file) >= 0) {
        s->line++;
        if (is_empty(text))
            continue;
        text[strcspn(text, "\r\n")] = '\0';
        free(path);
        path = malloc(folder + strlen(text) + 1);
        if (!path) {
            good = sw_smpi_fail(s, "%s", "no memory");
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
    sw_smpi_t s = {.path = in, .done = done, .flops = how->flops};
    bool list = false, good = look(&s, in, &list);
    good = good &&
           (s.writer = sw_convert_writer(out, s.ranks, "from SMPI's trace")) &&
           (list ? read_list(&s, in) : read_actions(&s, in));
    good = sw_convert_close(s.writer, good, out);
    for (uint32_t i = 0; s.open && i < s.ranks; i++)
        sw_lookup_free(&s.open[i]);
    sw_lookup_free(&s.after);
    free(s.open);
    free(s.requests);
    free(s.unit);
    free(s.word);
    return good;
}
