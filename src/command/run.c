/*
 * run.c - `straightway run`: become the program, with the library first in
 * LD_PRELOAD; or, with -n, become the launcher that starts this command once
 * per rank.
 *
 *   straightway run -n 8 --stats ./app
 *     = mpiexec -n 8 straightway run --stats=on -- ./app
 *     = 8 x LD_PRELOAD=.../libstraightway.so STRAIGHTWAY_STATS=on ./app
 *
 * The launcher itself is never preloaded. A program that a preload cannot
 * reach (static, another architecture, privileged) is refused with the
 * reason, instead of running without us and reporting nothing.
 */
#include "command.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The library --------------------------------------------------------- */

static char *library_path(void)
{
    const char *given = getenv("STRAIGHTWAY_LIB");
    char *path = given && *given
                     ? sw_command_text("%s", given)
                     : sw_command_text(
                           "%s/../lib/straightway/libstraightway.so",
                           sw_command_bin_dir());
    char *real = realpath(path, NULL);
    if (!real)
        sw_command_fail(SW_EXIT_FAILURE, "the library is missing: %s%s", path,
                        given && *given ? " (from STRAIGHTWAY_LIB)" : "");
    if (strpbrk(real, " :"))
        sw_command_fail(
            SW_EXIT_FAILURE,
            "%s: the dynamic linker takes no library "
            "from a path with a space or a colon; install straightway "
            "elsewhere",
            real);
    return real;
}

/* A sanitizer's runtime ends a program in which another library comes first. It
 * is one of those that are preloaded, or the program itself needs it. */
static void preload(const char *library, const char *program)
{
    const char *others = getenv("LD_PRELOAD");
    char *first = sw_command_find_sanitizer(program),
         *rest = sw_command_text("%s", "");
    for (int n; others && *others; others += n + (others[n] != 0)) {
        n = (int)strcspn(others, " :");
        char *one = sw_command_text("%.*s", n, others);
        if (!n || !strcmp(one, library) || (first && !strcmp(one, first)))
            continue;
        if (sw_command_is_sanitizer(base_name(one)))
            first = first ? sw_command_text("%s:%s", one, first) : one;
        else
            rest = sw_command_text("%s:%s", rest, one);
    }
    if (setenv("LD_PRELOAD",
               first ? sw_command_text("%s:%s%s", first, library, rest)
                     : sw_command_text("%s%s", library, rest),
               1))
        sw_command_fail(SW_EXIT_FAILURE, "out of memory");
}

/* The program --------------------------------------------------------- */

static const char *machine_name(const sw_file_t *file)
{
    if (!file->wide)
        return "a 32-bit program";
    switch (file->machine) {
    case EM_X86_64: return "an x86-64 program";
    case EM_AARCH64: return "an aarch64 program";
    case EM_PPC64: return "a POWER program";
    case EM_RISCV: return "a RISC-V program";
    default: return "a program for another processor";
    }
}

static void refuse_missing(const char *name)
{
    if (!strchr(name, '/') && !access(name, F_OK))
        sw_command_fail(SW_EXIT_NOT_FOUND,
                        "%s: not found in PATH; did you mean ./%s?", name,
                        name);
    sw_command_fail(SW_EXIT_NOT_FOUND, "%s: not found%s", name,
                    strchr(name, '/') ? "" : " in PATH");
}

/* A privileged program starts with an emptied environment: no preload. */
static void refuse_privileged(const char *path, const struct stat *st)
{
    uid_t me = geteuid();
    bool setuid = (st->st_mode & S_ISUID) && st->st_uid != me;
    bool setgid = (st->st_mode & S_ISGID) && st->st_gid != getegid();
    bool capable = me != 0 &&
                   getxattr(path, "security.capability", NULL, 0) > 0;
    if (setuid || setgid || capable)
        sw_command_fail(
            SW_EXIT_NOT_RUNNABLE,
            "%s is a %s program: the system loads no preloaded library "
            "into it\n  copy it without that right (cp drops it), or run "
            "it without straightway",
            path,
            setuid   ? "setuid"
            : setgid ? "setgid"
                     : "capability");
}

/* The path of the program, as execvp will find it; fails unless the library
 * can be loaded into it. */
static char *check_program(const char *name)
{
    char *path = sw_command_find_program(name);
    struct stat st;
    if (!path || stat(path, &st))
        refuse_missing(name);
    if (S_ISDIR(st.st_mode))
        sw_command_fail(SW_EXIT_NOT_RUNNABLE, "%s is a folder", path);
    if (access(path, X_OK)) {
        sw_file_t file;
        sw_record_file_read(path, &file);
        size_t n = strlen(path);
        if (n > 3 && !strcmp(path + n - 3, ".py"))
            sw_command_fail(SW_EXIT_NOT_RUNNABLE,
                            "%s is not executable; did you mean "
                            "`straightway run python3 %s`?",
                            path, path);
        sw_command_fail(SW_EXIT_NOT_RUNNABLE,
                        "%s is not executable (chmod +x %s)", path, path);
    }
    refuse_privileged(path, &st);

    sw_file_t file;
    sw_record_file_read(path, &file);
    if (file.kind == SW_FILE_ELF && !file.native)
        sw_command_fail(SW_EXIT_NOT_RUNNABLE,
                        "%s is %s, and the library is not", path,
                        machine_name(&file));
    if (file.kind == SW_FILE_ELF && !file.dynamic)
        sw_command_fail(
            SW_EXIT_NOT_RUNNABLE,
            "%s is statically linked: no library can be loaded into it\n"
            "  link it dynamically (without -static); a tool that starts the "
            "program goes\n  before: %s ... straightway run ./app",
            path, base_name(path));
    return path;
}

/* `straightway run mpirun ...` would preload the launcher. */
static void refuse_launcher(char **program)
{
    static const char *const launchers[] = {"mpirun",
                                            "mpiexec",
                                            "mpiexec.hydra",
                                            "mpirun.openmpi",
                                            "mpiexec.openmpi",
                                            "mpirun.mpich",
                                            "mpiexec.mpich",
                                            "orterun",
                                            "prun",
                                            "prterun",
                                            "srun",
                                            "aprun",
                                            "jsrun",
                                            "flux",
                                            NULL};
    const char *name = base_name(program[0]);
    for (int i = 0; launchers[i]; i++)
        if (!strcmp(name, launchers[i]))
            sw_command_fail(SW_EXIT_USAGE,
                            "%s is a launcher; straightway goes between "
                            "it and the program:\n"
                            "  %s -n N straightway run PROGRAM\n"
                            "  straightway run -n N PROGRAM",
                            name, name);
}

/* Launching ----------------------------------------------------------- */

/* Cores (not hardware threads) this process may use: what Open MPI counts as
 * its slots. */
static int allowed_cores(void)
{
    cpu_set_t *set = NULL;
    int cpus = 1024, count = 1;
    for (; cpus <= 1 << 20; cpus *= 2) {
        set = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (set && !sched_getaffinity(0, size, set)) {
            count = CPU_COUNT_S(size, set);
            CPU_FREE(set);
            break;
        }
        CPU_FREE(set);
    }
    char active = '0';
    int fd = open("/sys/devices/system/cpu/smt/active", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, &active, 1) != 1)
            active = '0';
        close(fd);
    }
    return active == '1' && count > 1 ? count / 2 : count;
}

static bool set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Someone else says how many slots there are. */
static bool slots_are_given(const char *args)
{
    return set("SLURM_JOB_ID") || set("PBS_NODEFILE") || set("LSB_JOBID") ||
           set("PRTE_MCA_rmaps_default_mapping_policy") ||
           set("OMPI_MCA_rmaps_base_oversubscribe") ||
           (args && (strstr(args, "host") || strstr(args, "oversubscribe") ||
                     strstr(args, "OVERSUBSCRIBE")));
}

static void refuse_root(const sw_launcher_t *launcher, const char *args)
{
    if (!launcher->openmpi || geteuid() != 0 ||
        (set("OMPI_ALLOW_RUN_AS_ROOT") &&
         set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")) ||
        (set("PRTE_ALLOW_RUN_AS_ROOT") &&
         set("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")) ||
        (args && strstr(args, "--allow-run-as-root")))
        return;
    sw_command_fail(
        SW_EXIT_FAILURE,
        "Open MPI does not start programs for root unless it is told "
        "to.\n"
        "  If root is what you want (in a container, say):\n"
        "    export OMPI_ALLOW_RUN_AS_ROOT=1 "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
}

static void refuse_nested(const char *ranks)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "PMIX_RANK", NULL};
    for (int i = 0; marks[i]; i++)
        if (set(marks[i]))
            sw_command_fail(SW_EXIT_USAGE,
                            "-n %s inside a launcher (%s is set): each "
                            "rank would start %s more; leave -n out",
                            ranks, marks[i], ranks);
}

/* Split "--bind-to core -x 'A=b c'" into words; quotes group, \ escapes. */
static int split(const char *text, char **to, int room)
{
    int n = 0;
    while (true) {
        text += strspn(text, " \t\n");
        if (!*text || n == room)
            return n;
        char *word = sw_command_grab(strlen(text) + 1), *end = word;
        char quote = 0;
        for (; *text && (quote || !strchr(" \t\n", *text)); text++) {
            if (quote && *text == quote)
                quote = 0;
            else if (!quote && (*text == '"' || *text == '\''))
                quote = *text;
            else if (*text == '\\' && text[1] && quote != '\'')
                *end++ = *++text;
            else
                *end++ = *text;
        }
        if (quote)
            sw_command_fail(SW_EXIT_USAGE,
                            "--launcher-args: a %c is not closed", quote);
        to[n++] = word;
    }
}

/* A word as a shell would need it written. */
static void print_word(FILE *to, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyz"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

static void print_command(FILE *to, char **argv)
{
    for (int i = 0; argv[i]; i++) {
        if (i)
            fputc(' ', to);
        print_word(to, argv[i]);
    }
    fputc('\n', to);
}

static void become(const char *path, char **argv)
{
    execv(path, argv);
    if (errno == ENOEXEC)
        execvp(path, argv); /* a script without #!: the shell gets it */
    sw_command_fail(SW_EXIT_NOT_RUNNABLE, "cannot start %s: %s", path,
                    strerror(errno));
}

/* Intel MPI's mpirun asks PATH for the mpiexec.hydra that lies beside it, and
 * would take another MPI's: two ranks would then be two jobs of one. */
static void put_siblings_first(const char *launcher)
{
    const char *slash = strrchr(launcher, '/');
    if (!slash)
        return;
    char *folder = sw_command_text("%.*s", (int)(slash - launcher), launcher);
    char *beside = sw_command_text("%s/mpiexec.hydra", folder);
    char *first = sw_command_find_program("mpiexec.hydra");
    if (access(beside, X_OK) == 0 && first && strcmp(first, beside)) {
        const char *path = getenv("PATH");
        setenv("PATH", sw_command_text("%s:%s", folder, path ? path : ""), 1);
    }
}

static void launch(const sw_run_options_t *options, const char *program)
{
    refuse_nested(options->ranks);
    sw_launcher_t launcher;
    sw_find_launcher(program, options->mpi, &launcher);
    refuse_root(&launcher, options->launcher_args);

    enum { MOST_WORDS = 256 };
    int arguments = 0;
    while (options->program[arguments])
        arguments++;
    char **argv = sw_command_grab(
        (size_t)(MOST_WORDS + options->setting_count + arguments + 16) *
        sizeof *argv);
    int n = 0;
    argv[n++] = launcher.path;
    if (options->launcher_args)
        n += split(options->launcher_args, argv + n, MOST_WORDS);
    if (launcher.openmpi && atoi(options->ranks) > allowed_cores() &&
        !slots_are_given(options->launcher_args))
        argv[n++] = "--oversubscribe";
    argv[n++] = "-n";
    argv[n++] = (char *)options->ranks;
    argv[n++] = (char *)sw_command_self();
    argv[n++] = "run";
    for (int i = 0; i < options->setting_count; i++)
        argv[n++] = options->settings[i];
    argv[n++] = "--";
    memcpy(argv + n, options->program, (size_t)arguments * sizeof *argv);

    if (options->verbose)
        fprintf(stderr, "straightway: launcher %s (%s)\n", launcher.path,
                launcher.why);
    if (options->dry_run) {
        print_command(stdout, argv);
        exit(0);
    }
    put_siblings_first(launcher.path);
    become(launcher.path, argv);
}

int sw_run(char **argv)
{
    sw_run_options_t options;
    sw_read_options(argv, &options);
    if (options.help) {
        sw_print_run_help(argv[0]);
        return 0;
    }
    if (!options.program[0])
        sw_command_fail(SW_EXIT_USAGE,
                        "%s: which program? "
                        "straightway %s [options] PROGRAM",
                        argv[0], argv[0]);
    refuse_launcher(options.program);
    char *library = library_path();
    char *program = check_program(options.program[0]);
    if (options.ranks)
        launch(&options, program);

    preload(library, program);
    /* For the page that a profile ends with. */
    setenv("STRAIGHTWAY_COMMAND", sw_command_self(), 1);
    if (options.dry_run) {
        printf("LD_PRELOAD=");
        print_word(stdout, getenv("LD_PRELOAD"));
        for (int i = 0; i < options.setting_count; i++) {
            char *copy = sw_command_text("%s", options.settings[i] + 2);
            char *equals = strchr(copy, '=');
            *equals = 0;
            for (char *c = copy; *c; c++)
                *c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c;
            printf(" STRAIGHTWAY_%s=", copy);
            print_word(stdout, equals + 1);
        }
        putchar(' ');
        print_command(stdout, options.program);
        return 0;
    }
    become(program, options.program);
    return SW_EXIT_FAILURE;
}
