/*
 * command.h - the native command, bin/straightway.
 *
 * The idea: what runs once per rank must cost next to nothing. So `run` is a
 * few hundred lines of C: they read the program's ELF header, set some
 * environment variables and exec. Everything that prints tables is Python (the
 * package `straightway`), which this command execs for all else.
 *
 * The command links none of the rooms and never forks: it always becomes the
 * program (or the launcher), so signals and exit statuses are the program's
 * own without any passing on.
 */
#ifndef SW_COMMAND_COMMAND_H
#define SW_COMMAND_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of the command's own failures; env(1) and shells use the
 * same ones for a program that cannot be run. */
enum {
    SW_EXIT_FAILURE = 1,
    SW_EXIT_USAGE = 2,
    SW_EXIT_NOT_RUNNABLE = 126,
    SW_EXIT_NOT_FOUND = 127
};

/* Print "straightway: ..." on stderr and exit. */
void sw_command_fail(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void *sw_command_grab(size_t size);            /* malloc or fail */
char *sw_command_text(const char *format, ...) /* asprintf or fail */
    __attribute__((format(printf, 1, 2)));

/* The nearest of `names` (NULL-ended) to a mistyped word, or NULL when none
 * is near enough to be what was meant. */
const char *sw_command_nearest(const char *word, const char *const *names);

/* Where this command lies: the folder of its executable. */
const char *sw_command_bin_dir(void);
const char *sw_command_self(void);

/* options.c: `run`'s own options and the table of settings ------------- */

typedef struct {
    const char *ranks;         /* -n: NULL inside a launcher */
    const char *mpi;           /* --mpi: prefix, launcher or a name */
    const char *launcher_args; /* --launcher-args */
    bool verbose, dry_run, help;
    char **settings; /* "--name=value" for each setting given */
    int setting_count;
    char **program; /* PROGRAM ARGS, NULL-ended */
} sw_run_options_t;

/* Read the arguments of `run` or `profile` (argv[0] tells which); every
 * setting that is given is put in the environment. Fails with status 2 on a
 * mistake. */
void sw_read_options(char **argv, sw_run_options_t *to);
void sw_print_run_help(const char *command); /* "run", "profile" */
void sw_command_print_help(void);

/* elf.c: what a file is, and what it asks the dynamic linker for -------- */

#define SW_NEEDED_MAX 128

typedef enum {
    SW_FILE_NONE,   /* cannot be read (may still be executable) */
    SW_FILE_OTHER,  /* no known format: the shell gets it */
    SW_FILE_SCRIPT, /* #!interpreter */
    SW_FILE_ELF
} sw_file_kind_t;

typedef struct {
    sw_file_kind_t kind;
    char interpreter[PATH_MAX]; /* script: what follows "#!" */
    bool wide, native, dynamic; /* ELF: 64-bit, this machine's, PT_INTERP */
    int machine;
    char *needed[SW_NEEDED_MAX]; /* DT_NEEDED, NULL-ended */
    char *rpath, *runpath;       /* or NULL */
} sw_file_t;

void sw_record_file_read(const char *path, sw_file_t *to);
/* The path of the MPI library that `path` loads, itself or through another
 * library, as the dynamic linker would find it; NULL if none. */
char *sw_command_find_mpi_library(const char *path);
/* The runtime of a sanitizer that `path` itself needs, likewise: it must come
 * before all other libraries. And whether a library is one, by its name. */
char *sw_command_find_sanitizer(const char *path);
bool sw_command_is_sanitizer(const char *name);
/* Look `name` up in PATH as execvp does; NULL if it is nowhere. */
char *sw_command_find_program(const char *name);

/* launcher.c: the launcher that belongs to a program -------------------- */

typedef struct {
    char *path;
    bool openmpi;    /* takes --oversubscribe, refuses root */
    const char *why; /* how it was found, for --verbose */
} sw_launcher_t;

void sw_find_launcher(const char *program, const char *mpi, sw_launcher_t *to);

/* run.c ---------------------------------------------------------------- */

int sw_run(char **argv);

#endif
