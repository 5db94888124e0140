/*
 * convert.c - straightway-whatif convert: into files of operations, and out of
 * them.
 *
 *     convert [OPTION ...] IN OUT
 *         --from FORM, --to FORM   of ops, goal, smpi, and text (to only);
 *                                  else by the names: .swops, .goal, .txt as
 *                                  it is; others are smpi
 *         --flops RATE             SMPI: flop/s, 1e9 unless it is said
 *         --file-order             GOAL: what a file leaves open is done as it
 *                                  is written
 *         --graph                  GOAL: as a partial order, even where one
 *                                  order is as good
 *         --algorithm OP=NAME      how a collective becomes messages
 *     convert --trace OUT FILE... <NAMES
 *                                  traces (convert_trace.c)
 *     convert --synthetic PATTERN RANKS ITERATIONS BYTES COMPUTE_NS OUT
 *                                  regular programs (synthetic.c)
 *     convert --extrapolate RANKS IN OUT
 *                                  as it would be on more (extrapolate.c)
 *
 * The command reports in JSON on stdout, unless OUT is "-". Status 1, and a
 * sentence on stderr, when it had to stop; there is no file then.
 */
#include "vtime/model/algorithm.h"
#include "vtime/base/commands.h"
#include "vtime/extrapolate/extrapolate.h"
#include "vtime/formats/convert.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef bool convert_func_t(const char *in, const char *out,
                            const sw_convert_t *how, sw_converted_t *done);

static const struct {
    const char *name, *ending;
    convert_func_t *from, *to; /* to and from operations */
} forms[] = {
    {"ops", ".swops", NULL, NULL},
    {"goal", ".goal", sw_goal_to_ops, sw_ops_to_goal},
    {"text", ".txt", NULL, sw_ops_to_text},
    {"smpi", "", sw_smpi_to_ops, sw_ops_to_smpi},
};
enum { OPS, GOAL, TEXT, SMPI, FORMS };

static int usage(void)
{
    fprintf(stderr,
            "straightway-whatif convert [--from FORM] [--to FORM] [--flops "
            "RATE]\n    [--file-order] [--graph] [--algorithm OP=NAME] IN OUT\n"
            "straightway-whatif convert --trace OUT FILE... <NAMES\n"
            "straightway-whatif convert --synthetic PATTERN RANKS ITERATIONS "
            "BYTES COMPUTE_NS OUT\n"
            "straightway-whatif convert --extrapolate RANKS IN OUT\n"
            "FORM is ops, goal, smpi, or text (--to)\n");
    return 2;
}

static int form_named(const char *name)
{
    for (int i = 0; i < FORMS; i++)
        if (!strcmp(name, forms[i].name))
            return i;
    return -1;
}

/* The last one's ending is all names'. A .txt that is read is SMPI's. */
static int form_of(const char *path, bool to)
{
    size_t n = strlen(path);
    if (to && !strcmp(path, "-"))
        return TEXT;
    for (int i = 0; i < FORMS; i++) {
        size_t m = strlen(forms[i].ending);
        if (n >= m && !strcmp(path + n - m, forms[i].ending) &&
            (to || i != TEXT))
            return i;
    }
    return SMPI;
}

static bool set_algorithm(sw_convert_t *how, const char *word)
{
    const char *is = strchr(word, '=');
    for (unsigned i = 0; is && i < SW_COLLECTIVE_COUNT; i++)
        if (strlen(sw_collective_names[i]) == (size_t)(is - word) &&
            !strncmp(sw_collective_names[i], word, (size_t)(is - word))) {
            how->algorithms[i] = is + 1;
            return sw_algorithm_named((sw_op_collective_t)i, is + 1) ||
                   sw_convert_fail("%s: %s has no such algorithm", word,
                                   sw_collective_names[i]);
        }
    return sw_convert_fail("--algorithm %s: say COLLECTIVE=NAME", word);
}

static bool set_flops(sw_convert_t *how, const char *word)
{
    char *end;
    how->flops = strtod(word, &end);
    return (end != word && !*end && how->flops > 0 && how->flops < 1e30) ||
           sw_convert_fail("--flops %s: say flop/s, as in 2.5e9", word);
}

/* Through a file of operations, where neither form is that. */
static bool through(int from, int to, char **paths, const sw_convert_t *how,
                    sw_converted_t *done)
{
    if (from == OPS && to == OPS)
        return sw_convert_fail("%s: from operations to operations there is "
                               "nothing to do; name forms with --from, --to",
                               paths[0]);
    if (to == OPS)
        return forms[from].from(paths[0], paths[1], how, done);
    if (from == OPS)
        return forms[to].to(paths[0], paths[1], how, done);
    const char *beside = strcmp(paths[1], "-") ? paths[1] : paths[0];
    size_t n = strlen(beside) + 32;
    char *between = malloc(n);
    if (!between)
        return sw_convert_fail("no memory");
    snprintf(between, n, "%s.%ld.swops", beside, (long)getpid());
    sw_converted_t first = {0};
    bool good = forms[from].from(paths[0], between, how, &first) &&
                forms[to].to(between, paths[1], how, done);
    unlink(between);
    free(between);
    return good;
}

static void report(const sw_converted_t *done)
{
    printf("{\"operations\": %llu, \"calls\": %llu, \"damaged\": %llu, "
           "\"outside\": %llu, \"polls\": %llu, \"unmodelled\": %llu, "
           "\"approximate\": %llu, \"expanded\": %llu, \"flags\": %llu, "
           "\"means\": %llu, \"sections\": %llu}\n",
           (unsigned long long)done->operations,
           (unsigned long long)done->calls, (unsigned long long)done->damaged,
           (unsigned long long)done->outside, (unsigned long long)done->polls,
           (unsigned long long)done->unmodelled,
           (unsigned long long)done->approximate,
           (unsigned long long)done->expanded, (unsigned long long)done->flags,
           (unsigned long long)done->means, (unsigned long long)done->sections);
}

static int status_of(bool good, const sw_converted_t *done)
{
    if (good)
        report(done);
    return good ? 0 : 1;
}

static int extrapolate(char **argv)
{
    uint64_t ranks;
    sw_converted_t done = {0};
    if (!argv[0] || !argv[1] || !argv[2] || argv[3] ||
        !sw_convert_number(argv[0], "", INT32_MAX, &ranks) || !ranks)
        return usage();
    return status_of(
        sw_extrapolate_ops(argv[1], argv[2], (uint32_t)ranks, &done), &done);
}

int sw_convert_command(char **argv)
{
    sw_convert_t how = {.flops = 1e9};
    sw_converted_t done = {0};
    int from = -1, to = -1;
    signal(SIGXFSZ, SIG_IGN); /* too large a file is an error like others */
    for (; *argv && !strncmp(*argv, "--", 2); argv++) {
        const char *word = *argv + 2, *value = argv[1];
        if (!strcmp(word, "trace"))
            return argv[1] && argv[2]
                       ? status_of(
                             sw_trace_to_ops(argv[1], argv + 2, stdin, &done),
                             &done)
                       : usage();
        if (!strcmp(word, "synthetic"))
            return status_of(sw_synthetic_ops(argv + 1, &done), &done);
        if (!strcmp(word, "extrapolate"))
            return extrapolate(argv + 1);
        if (!strcmp(word, "file-order")) {
            how.file_order = true;
            continue;
        }
        if (!strcmp(word, "graph")) {
            how.graph = true;
            continue;
        }
        if (!value)
            return usage();
        argv++;
        if (!strcmp(word, "from")) {
            from = form_named(value);
            if (from < 0 || from == TEXT)
                return usage();
        } else if (!strcmp(word, "to")) {
            if ((to = form_named(value)) < 0)
                return usage();
        } else if (!strcmp(word, "flops")) {
            if (!set_flops(&how, value))
                return 2;
        } else if (!strcmp(word, "algorithm")) {
            if (!set_algorithm(&how, value))
                return 2;
        } else {
            return usage();
        }
    }
    if (!argv[0] || !argv[1] || argv[2])
        return usage();
    from = from >= 0 ? from : form_of(argv[0], false);
    to = to >= 0 ? to : form_of(argv[1], true);
    if (!through(from, to, argv, &how, &done))
        return 1;
    if (strcmp(argv[1], "-"))
        report(&done);
    return 0;
}
