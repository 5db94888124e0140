/*
 * command.c - what the files of the native command share; see command.h.
 */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sw_command_fail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("straightway: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

void *sw_command_grab(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        sw_command_fail(SW_EXIT_FAILURE, "out of memory");
    return p;
}

char *sw_command_text(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        sw_command_fail(SW_EXIT_FAILURE, "out of memory");
    va_end(args);
    return text;
}

const char *sw_command_self(void)
{
    static char path[PATH_MAX];
    if (!*path) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n <= 0)
            sw_command_fail(SW_EXIT_FAILURE, "cannot read /proc/self/exe: %s",
                            strerror(errno));
        path[n] = 0;
    }
    return path;
}

const char *sw_command_bin_dir(void)
{
    static char *dir;
    if (!dir) {
        dir = sw_command_text("%s", sw_command_self());
        *strrchr(dir, '/') = 0;
    }
    return dir;
}
