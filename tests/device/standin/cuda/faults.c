/*
 * faults.c - errors of the program that hardware would punish: each is said,
 * counted, and ends the process unless a test counts them.
 */
#include "inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static word_t faults;

void fault_log(const char *format, ...)
{
    static FILE *to;
    static bool looked;
    if (!looked && settings.log && (to = fopen(settings.log, "a")))
        setvbuf(to, NULL, _IOLBF, 0);
    looked = true;
    if (!to)
        return;
    va_list more;
    char line[400];
    va_start(more, format);
    vsnprintf(line, sizeof line, format, more);
    va_end(more);
    fprintf(to, "%d %s\n", (int)getpid(), line);
}

int fault(context_t *c, int code, const char *format, ...)
{
    char line[300];
    va_list more;
    va_start(more, format);
    vsnprintf(line, sizeof line, format, more);
    va_end(more);
    fprintf(stderr, "stand-in of a driver: process %d: %s\n", (int)getpid(),
            line);
    fault_log("fault: %s", line);
    if (!settings.counts)
        abort();
    faults++;
    if (c && !c->fault)
        c->fault = code;
    return code;
}

EXPORTED uint64_t standin_faults(void)
{
    return faults;
}
