/*
 * main.c - `straightway COMMAND`: run natively, everything else in Python.
 *
 * The Python that serves is the one beside this executable (a virtual
 * environment's bin/), else python3 from PATH. It is told where the command
 * lies (STRAIGHTWAY_COMMAND) so that it can start `run` and the probe.
 * `--cflags` and `--completion` need no Python: a prefix may lack one.
 */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SW_VERSION
#define SW_VERSION "unknown"
#endif

static const char *const commands[] = {
    "run",    "profile", "doctor", "bench", "report", "diff", "merge",
    "whatif", "study",   "topo",   "map",   "where",  "tune", NULL};

static int run_python(char **argv)
{
    char *python = getenv("STRAIGHTWAY_PYTHON");
    if (!python || !*python) {
        python = sw_command_text("%s/python3", sw_command_bin_dir());
        if (access(python, X_OK))
            python = sw_command_find_program("python3");
    }
    if (!python)
        sw_command_fail(
            SW_EXIT_NOT_FOUND,
            "`straightway %s` needs Python 3.9 or newer, and there is no "
            "python3 beside %s nor in PATH\n"
            "  (`straightway run` needs none)",
            argv[1], sw_command_self());
    setenv("STRAIGHTWAY_COMMAND", sw_command_self(), 1);
    /* Modules must come from the installation, not from the folder at hand.
     * The command line restores what it finds here. */
    const char *safe = getenv("PYTHONSAFEPATH");
    setenv("STRAIGHTWAY_SAFEPATH", safe ? safe : "", 1);
    setenv("PYTHONSAFEPATH", "1", 1);

    int n = 0;
    while (argv[n])
        n++;
    char **to = sw_command_grab((size_t)(n + 4) * sizeof *to);
    to[0] = python;
    to[1] = "-m";
    to[2] = "straightway";
    memcpy(to + 3, argv + 1, (size_t)n * sizeof *to);
    execv(python, to);
    sw_command_fail(SW_EXIT_NOT_RUNNABLE, "cannot start %s: %s", python,
                    strerror(errno));
}

/* The path of a file of this installation, named from its prefix. */
static const char *installed(const char *name)
{
    static char path[PATH_MAX];
    char *from = sw_command_text("%s/../%s", sw_command_bin_dir(), name);
    if (!realpath(from, path))
        sw_command_fail(SW_EXIT_FAILURE, "%s is missing\n  install straightway",
                        from);
    free(from);
    return path;
}

static int print_cflags(void)
{
    installed("include/straightway.h"); /* a build folder has none */
    printf("-I%s\n", installed("include"));
    return 0;
}

/* Where each shell looks for a command's completion, below the prefix. */
static int print_completion(const char *shell)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static const char *const scripts[] = {
        "share/bash-completion/completions/straightway",
        "share/zsh/site-functions/_straightway",
        "share/fish/vendor_completions.d/straightway.fish"};
    int i = 0;
    while (shells[i] && strcmp(shell, shells[i]))
        i++;
    if (!shells[i]) {
        const char *near = sw_command_nearest(shell, shells);
        sw_command_fail(SW_EXIT_USAGE, "--completion %s: %s", shell,
                        near ? sw_command_text("did you mean %s?", near)
                             : "give bash, zsh or fish");
    }
    const char *path = installed(scripts[i]);
    FILE *script = fopen(path, "r");
    char part[4096];
    size_t n;
    while (script && (n = fread(part, 1, sizeof part, script)) > 0)
        fwrite(part, 1, n, stdout);
    if (!script || ferror(script))
        sw_command_fail(SW_EXIT_FAILURE, "cannot read %s: %s", path,
                        strerror(errno));
    if (fflush(stdout) || ferror(stdout))
        sw_command_fail(SW_EXIT_FAILURE, "cannot write: %s", strerror(errno));
    return 0;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    if (!strcmp(word, "run") || !strcmp(word, "profile"))
        return sw_run(argv + 1);
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts("straightway " SW_VERSION);
        return 0;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
        !strcmp(word, "help")) {
        sw_command_print_help();
        return 0;
    }
    if (!strcmp(word, "--cflags"))
        return print_cflags();
    if (!strcmp(word, "--completion"))
        return print_completion(argc > 2 ? argv[2] : "");
    for (int i = 0; commands[i]; i++)
        if (!strcmp(word, commands[i]))
            return run_python(argv);

    if (*word == '-') {
        static const char *const options[] = {"--help", "--version", "--cflags",
                                              "--completion", NULL};
        const char *near = sw_command_nearest(word, options);
        if (near)
            sw_command_fail(SW_EXIT_USAGE,
                            "unknown option %s; did you mean %s?", word, near);
        sw_command_fail(SW_EXIT_USAGE,
                        "unknown option %s; options of `run` come "
                        "after it: straightway run %s ...",
                        word, word);
    }
    const char *near = sw_command_nearest(word, commands);
    if (near)
        sw_command_fail(SW_EXIT_USAGE, "unknown command %s; did you mean %s?",
                        word, near);
    char *program = sw_command_find_program(word);
    if (program)
        sw_command_fail(SW_EXIT_USAGE,
                        "unknown command %s; to run the program: "
                        "straightway run %s",
                        word, word);
    sw_command_fail(SW_EXIT_USAGE, "unknown command %s; see straightway --help",
                    word);
}
