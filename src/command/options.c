/*
 * options.c - the options of `run`: its own few, and every line of
 * settings.def.
 *
 * A setting NAME is the option --name (dashes for underscores). A switch may
 * stand alone (--stats), be denied (--no-arena) or be given a value
 * (--arena=off); the others take one (--arena-threshold 64k, or with "=").
 * Values are checked here, once, before any rank starts: the library would
 * report a bad one from every rank.
 */
#include "command.h"

#include "node/base/duration.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum {
    BOOL,
    SIZE,
    INT,
    TEXT,
    AUTO_BOOL,
    AUTO_SIZE,
    AUTO_INT,
    NONE_INT
} kind_t;

/* What each kind takes, and the name of its value in the help. */
static const struct {
    const char *word; /* beside the others; NULL: none */
    const char *wanted;
    const char *value;
} kinds[] = {
    [BOOL] = {NULL, "on or off", ""},
    [SIZE] = {NULL, "a size such as 65536, 64k or 2m", " SIZE"},
    [INT] = {NULL, "a whole number", " N"},
    [TEXT] = {NULL, "", " TEXT"},
    [AUTO_BOOL] = {"auto", "auto, on or off", " WHEN"},
    [AUTO_SIZE] = {"auto", "auto, or a size such as 65536, 64k or 2m", " SIZE"},
    [AUTO_INT] = {"auto", "auto, or a whole number", " N"},
    [NONE_INT] = {"none", "none, or a whole number", " N"},
};

typedef struct {
    kind_t kind;
    bool inner;          /* for tests and other commands: not in the help */
    const char *name;    /* ARENA_THRESHOLD */
    const char *initial; /* the default, as written */
    const char *help;
    char option[40]; /* --arena-threshold */
    char denied[40]; /* --no-arena, for switches */
} setting_t;

static setting_t settings[] = {
#define SW_SETTING(KIND, field, NAME, value, help) \
    {KIND, false, #NAME, #value, help, "", ""},
#define SW_INNER_SETTING(KIND, field, NAME, value, help) \
    {KIND, true, #NAME, #value, help, "", ""},
#include "node/base/settings.def"
};

enum { COUNT = sizeof settings / sizeof *settings };

static const char *const own[] = {
    "-n", "--ranks",  "--mpi", "--launcher-args", "--dry-run", "--help",
    "-o", "--output", NULL};

static const char *command; /* "run" or "profile" */

static void name_options(void)
{
    for (int i = 0; i < COUNT; i++) {
        setting_t *s = &settings[i];
        snprintf(s->option, sizeof s->option, "--%s", s->name);
        for (char *c = s->option; *c; c++)
            *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
        if (s->kind == BOOL)
            snprintf(s->denied, sizeof s->denied, "--no-%s", s->option + 2);
    }
}

static bool good_bool(const char *text)
{
    static const char *const words[] = {"1", "on",  "yes", "true",
                                        "0", "off", "no",  "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(text, words[i]))
            return true;
    return false;
}

static bool good_size(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n && n < 19 &&
           (!text[n] || (strchr("kKmMgG", text[n]) && !text[n + 1]));
}

static bool good_int(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t n = strspn(text, "0123456789");
    return n && n < 19 && !text[n];
}

static bool good(kind_t kind, const char *text)
{
    if (kinds[kind].word && !strcasecmp(text, kinds[kind].word))
        return true;
    switch (kind) {
    case BOOL: return good_bool(text);
    case SIZE:
    case AUTO_SIZE: return good_size(text);
    case INT:
    case AUTO_INT:
    case NONE_INT: return good_int(text);
    case AUTO_BOOL: return good_bool(text) || good_int(text);
    case TEXT: break;
    }
    return true;
}

static const setting_t *setting(const char *name)
{
    const setting_t *s = settings;
    while (strcmp(s->name, name))
        s++;
    return s;
}

static void give(sw_run_options_t *to, const setting_t *s, const char *value)
{
    if (!good(s->kind, value))
        sw_command_fail(SW_EXIT_USAGE, "%s%s%s: give %s", s->option,
                        s->kind == BOOL ? "=" : " ", value,
                        kinds[s->kind].wanted);
    if (!strcmp(s->name, "SHOW") && strcmp(value, "lazy") &&
        strcmp(value, "eager") && strcmp(value, "off"))
        sw_command_fail(SW_EXIT_USAGE,
                        "%s %s: give lazy, eager or off (--dry-run "
                        "prints the command)",
                        s->option, value);
    if (!strcmp(s->name, "HANG_AFTER") && sw_duration(value) < 0)
        sw_command_fail(SW_EXIT_USAGE, "%s %s: give " SW_DURATION_WANTED,
                        s->option, value);
    if (!strcmp(s->name, "HANG_ACTION") && strcmp(value, "report") &&
        strcmp(value, "abort"))
        sw_command_fail(SW_EXIT_USAGE, "%s %s: give report or abort", s->option,
                        value);
    char *name = sw_command_text("STRAIGHTWAY_%s", s->name);
    if (setenv(name, value, 1))
        sw_command_fail(SW_EXIT_FAILURE, "out of memory");
    free(name);
    to->settings[to->setting_count++] = sw_command_text("%s=%s", s->option,
                                                        value);
    if (!strcmp(s->name, "VERBOSE"))
        to->verbose = strchr("1oOyYtT", *value) && strcasecmp(value, "off");
}

static void unknown(const char *option)
{
    const char *names[2 * COUNT + sizeof own / sizeof *own];
    int n = 0;
    for (int i = 0; own[i]; i++)
        names[n++] = own[i];
    for (int i = 0; i < COUNT; i++) {
        names[n++] = settings[i].option;
        if (*settings[i].denied)
            names[n++] = settings[i].denied;
    }
    names[n] = NULL;
    char *word = strndup(option, strcspn(option, "="));
    const char *near = sw_command_nearest(word, names);
    if (near)
        sw_command_fail(SW_EXIT_USAGE, "unknown option %s; did you mean %s?",
                        word, near);
    sw_command_fail(SW_EXIT_USAGE,
                    "unknown option %s; see straightway %s --help", word,
                    command);
}

/* The value of an option that needs one: after "=", or the next argument. */
static char *value_of(char ***at, const char *option)
{
    char *equals = strchr(**at, '=');
    if (equals)
        return equals + 1;
    if (!(*at)[1])
        sw_command_fail(SW_EXIT_USAGE,
                        "%s needs a value; see straightway %s --help", option,
                        command);
    return *++*at;
}

static bool is(const char *argument, const char *option)
{
    size_t n = strlen(option);
    return !strncmp(argument, option, n) &&
           (!argument[n] || (argument[n] == '=' && option[1] == '-'));
}

static bool read_setting(char ***at, sw_run_options_t *to)
{
    const char *argument = **at;
    if (!strcmp(argument, "-v"))
        argument = "--verbose";
    for (int i = 0; i < COUNT; i++) {
        setting_t *s = &settings[i];
        if (*s->denied && !strcmp(argument, s->denied)) {
            give(to, s, "off");
            return true;
        }
        if (!is(argument, s->option))
            continue;
        if (s->kind == BOOL && !strchr(argument, '='))
            give(to, s, "on");
        else
            give(to, s, value_of(at, s->option));
        return true;
    }
    return false;
}

void sw_read_options(char **argv, sw_run_options_t *to)
{
    int n = 0;
    while (argv[n])
        n++;
    memset(to, 0, sizeof *to);
    to->settings = sw_command_grab((size_t)(n + 3) * sizeof *to->settings);
    name_options();
    command = argv[0];
    /* To see a program as it is; what is given after this wins. */
    if (!strcmp(command, "profile")) {
        const char *enable = getenv("STRAIGHTWAY_ENABLE");
        give(to, setting("PROFILE"), "on");
        if (!enable || !*enable)
            give(to, setting("ENABLE"), "off");
    }

    char **at = argv + 1;
    for (; *at && **at == '-' && (*at)[1]; at++) {
        if (!strcmp(*at, "--")) {
            at++;
            break;
        }
        if (is(*at, "-n") || is(*at, "-np") || is(*at, "--ranks"))
            to->ranks = value_of(&at, *at);
        else if (is(*at, "--mpi"))
            to->mpi = value_of(&at, "--mpi");
        else if (is(*at, "--launcher-args"))
            to->launcher_args = value_of(&at, "--launcher-args");
        else if (is(*at, "-o") || is(*at, "--output"))
            give(to, setting("PROFILE_OUTPUT"), value_of(&at, *at));
        else if (!strcmp(*at, "--dry-run"))
            to->dry_run = true;
        else if (!strcmp(*at, "--help") || !strcmp(*at, "-h"))
            to->help = true;
        else if (!read_setting(&at, to))
            unknown(*at);
    }
    to->program = at;

    if (to->ranks) {
        size_t digits = strspn(to->ranks, "0123456789");
        if (!digits || to->ranks[digits] || digits > 7 || !atoi(to->ranks))
            sw_command_fail(SW_EXIT_USAGE,
                            "-n %s: give the number of ranks, 1 or "
                            "more",
                            to->ranks);
    } else if (!to->help && (to->mpi || to->launcher_args)) {
        sw_command_fail(SW_EXIT_USAGE,
                        "%s chooses how to launch: it needs -n N",
                        to->mpi ? "--mpi" : "--launcher-args");
    }
}

/* Print `text` in the columns from..78, breaking between words. */
static void print_wrapped(const char *text, int from)
{
    int column = from;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > from && column + 1 + n > 78) {
            printf("\n%*s", from, "");
            column = from;
        } else if (column > from) {
            putchar(' ');
            column++;
        }
        printf("%.*s", n, text);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* 268435456 as 256m; other defaults as they are. */
static const char *short_size(const char *text)
{
    unsigned long long n = strtoull(text, NULL, 10);
    static const char units[] = "gmk";
    for (int i = 0; i < 3; i++) {
        unsigned long long unit = 1ull << (30 - 10 * i);
        if (n >= unit && n % unit == 0)
            return sw_command_text("%llu%c", n / unit, units[i]);
    }
    return text;
}

static void print_profile_head(void)
{
    fputs("usage: straightway profile [options] [--] PROGRAM [ARGUMENT ...]\n"
          "\n"
          "Run an MPI program as it is, record every MPI call, write a capture "
          "file and\n"
          "print some lines: what communication costs, and what of it is "
          "waiting. C, C++,\n"
          "Fortran or Python, Open MPI, MPICH or Intel MPI.\n"
          "\n"
          "  mpirun -n 8 straightway profile ./app       under any launcher\n"
          "  straightway profile -n 8 ./app              finds the launcher "
          "itself\n"
          "  straightway profile -n 8 --enable ./app     the program "
          "accelerated\n"
          "  straightway report FILE                     the page: call sites, "
          "what could\n"
          "                                              be gained; see report "
          "--help\n"
          "\n"
          "capture:\n"
          "  -o FILE, --output FILE  the capture's file, or the folder for it\n"
          "                          [PROGRAM.RANKS.JOB.swcap]\n"
          "\n",
          stdout);
}

static void print_run_head(void)
{
    fputs("usage: straightway run [options] [--] PROGRAM [ARGUMENT ...]\n"
          "\n"
          "Run an MPI program with Straightway loaded. The program stays as it "
          "is: C,\n"
          "C++, Fortran or Python, Open MPI, MPICH or Intel MPI.\n"
          "\n"
          "Under a launcher, it goes between the launcher and the program:\n"
          "\n"
          "  mpirun -n 8 straightway run ./app\n"
          "  srun -n 8 straightway run python solver.py\n"
          "\n"
          "With -n it finds the launcher of the program's own MPI and starts "
          "it:\n"
          "\n"
          "  straightway run -n 8 ./app\n"
          "\n",
          stdout);
}

/* A switch's default, which may be the command's own. */
static bool is_on(const setting_t *s, const char *word)
{
    if (!strcmp(word, "profile") && s == setting("ENABLE"))
        return false;
    return !strcmp(s->initial, "true");
}

void sw_print_run_help(const char *word)
{
    name_options();
    if (!strcmp(word, "profile"))
        print_profile_head();
    else
        print_run_head();
    fputs(
        "launching:\n"
        "  -n N, --ranks N         start N ranks with the program's own "
        "launcher\n"
        "  --mpi MPI               that of this MPI: an installation's folder, "
        "a\n"
        "                          launcher's path, or openmpi, mpich or "
        "intel\n"
        "  --launcher-args \"...\"   hand these arguments to the launcher\n"
        "  --dry-run               print the command instead of running it\n"
        "\n"
        "settings (each is also an environment variable, STRAIGHTWAY_NAME):\n",
        stdout);
    for (int i = 0; i < COUNT; i++) {
        const setting_t *s = &settings[i];
        char left[64];
        if (s->inner)
            continue;
        snprintf(left, sizeof left, "%s%s%s", s->kind == BOOL ? "--[no-]" : "",
                 s->option + (s->kind == BOOL ? 2 : 0), kinds[s->kind].value);
        int width = printf("  %-23s ", left);
        if (width > 26)
            printf("\n%*s", 26, "");
        const char *initial = s->kind == TEXT ? ""
                              : s->kind == BOOL
                                  ? (is_on(s, word) ? "on" : "off")
                              : kinds[s->kind].word ? kinds[s->kind].word
                                                    : short_size(s->initial);
        char *help = *initial ? sw_command_text("%s [%s]", s->help, initial)
                              : sw_command_text("%s", s->help);
        print_wrapped(help, 26);
        free(help);
    }
    fputs("\n"
          "The exit status is the program's; 126: it cannot be run, 127: it is "
          "not\n"
          "found, 2: a mistake on this command line.\n",
          stdout);
}

void sw_command_print_help(void)
{
    fputs(
        "usage: straightway COMMAND [options]\n"
        "\n"
        "Straightway makes MPI communication inside a node faster, on the "
        "program as\n"
        "it is: no recompiling, no kernel module, whatever MPI it was built "
        "with.\n"
        "\n"
        "commands:\n"
        "  run      run a program with Straightway loaded\n"
        "  profile  run a program, and see what its communication costs\n"
        "  doctor   what this machine offers, what is missing and how to mend "
        "it\n"
        "  bench    measure the host MPI and Straightway side by side\n"
        "  tune     measure which calls the MPI does faster here, and leave "
        "them to it\n"
        "  report   show what a profile's capture file says\n"
        "  diff     compare two capture files\n"
        "  merge    join the parts of one job's capture into one file\n"
        "  whatif   predict a program's time under other conditions\n"
        "  study    profile, prediction and measured gain of a program, in one "
        "page\n"
        "  topo     the machine, and where the ranks of a job are on it\n"
        "  map      which rank should sit on which core\n"
        "  where    what each rank of a running job waits for\n"
        "\n"
        "examples:\n"
        "  mpirun -n 8 straightway run ./app       under any launcher\n"
        "  straightway run -n 8 --stats ./app      finds the launcher itself\n"
        "  straightway doctor\n"
        "  straightway bench collectives -n 2\n"
        "  straightway profile -n 8 ./app\n"
        "  straightway report app.8.4711.swcap --html\n"
        "  straightway whatif run -n 64 --free alltoall ./app\n"
        "  straightway study -n 8 ./app\n"
        "  mpirun -n 8 straightway topo\n"
        "  straightway where\n"
        "\n"
        "options:\n"
        "  -h, --help       this text; `straightway COMMAND --help` for each "
        "command\n"
        "  -V, --version    the version\n"
        "  --cflags         the compiler's option that finds straightway.h\n"
        "  --completion SHELL\n"
        "                   a script that completes this command: bash, zsh or "
        "fish\n",
        stdout);
}
