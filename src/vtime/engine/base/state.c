/*
 * state.c - errors with which the engine cannot go on.
 */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sw_engine_broken(const char *what, const char *file, int line)
{
    fprintf(stderr,
            "straightway-whatif: %s:%d: an event before its cause: "
            "not so: %s\n",
            file, line, what);
    abort();
}

void sw_engine_wrong(sw_engine_t *engine, uint32_t rank, const char *format,
                     ...)
{
    if (engine->wrong)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(engine->wrong_text, sizeof engine->wrong_text, format, list);
    va_end(list);
    engine->wrong = true;
    engine->wrong_rank = rank;
}
