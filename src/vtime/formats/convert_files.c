/*
 * convert_files.c - what all forms share: files that are opened, closed or
 * given up, numbers in a text, and sentences on what is wrong.
 */
#include "convert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool sw_convert_fail(const char *form, ...)
{
    va_list values;
    va_start(values, form);
    vfprintf(stderr, form, values);
    va_end(values);
    putc('\n', stderr);
    return false;
}

bool sw_convert_fail_at(const char *path, uint64_t line, const char *form,
                        const char *what)
{
    fprintf(stderr, "%s:%llu: ", path, (unsigned long long)line);
    fprintf(stderr, form, what);
    putc('\n', stderr);
    return false;
}

bool sw_convert_number(const char *text, const char *unit, uint64_t most,
                       uint64_t *to)
{
    char *end;
    errno = 0;
    *to = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !errno && !strcmp(end, unit) &&
           *to <= most;
}

sw_op_writer_t *sw_convert_writer(const char *out, uint32_t ranks,
                                  const char *note)
{
    sw_op_writer_t *writer = sw_op_writer_new(out, ranks, note);
    if (!writer)
        sw_convert_fail("%s: %s", out, strerror(errno));
    return writer;
}

bool sw_convert_close(sw_op_writer_t *writer, bool good, const char *out)
{
    if (writer && good)
        return sw_op_writer_close(writer) ||
               sw_convert_fail("%s: %s", out, strerror(errno));
    if (writer)
        sw_op_writer_drop(writer);
    return false;
}

FILE *sw_convert_open_text(const char *out)
{
    FILE *to = strcmp(out, "-") ? fopen(out, "w") : stdout;
    if (!to)
        sw_convert_fail("%s: %s", out, strerror(errno));
    return to;
}

bool sw_convert_close_text(FILE *to, bool memory, const char *out)
{
    bool good = !ferror(to) && memory;
    int error = errno;
    if (to == stdout ? fflush(to) : fclose(to))
        good = false, error = errno;
    if (good)
        return true;
    if (to != stdout)
        remove(out);
    return sw_convert_fail("%s: %s", out, strerror(memory ? error : ENOMEM));
}
