/*
 * main.c - straightway-whatif: virtual time.
 *
 *     straightway-whatif replay ...    operations of a file, timed by a model
 *     straightway-whatif convert ...   traces and foreign formats, from and to
 *                                      files of operations
 *     straightway-whatif serve ...     a program's ranks, as they run
 *     straightway-whatif check MODEL   is this a model?
 *
 * The heads of replay.c, convert.c, serve.c and check.c tell the rest. Started
 * by straightway whatif; no command for users.
 */
#include "vtime/base/commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(char **argv);
} commands[] = {
    {"check", sw_check_command},
    {"replay", sw_replay_command},
    {"convert", sw_convert_command},
    {"serve", sw_serve_command},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name) && commands[i].run)
            return commands[i].run(argv + 2);
    fprintf(stderr, "straightway-whatif: no such command\n");
    return 2;
}
