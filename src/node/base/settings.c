/*
 * settings.c - the settings table, read from the environment.
 */
#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

sw_settings_t sw_settings = {
#define SW_SETTING(KIND, field, NAME, value, help) .field = value,
#include "settings.def"
};

static void say(const char *format, va_list args)
{
    char line[960];
    int n = snprintf(line, sizeof line, "straightway: ");
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    if (m > 0)
        n += m;
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
    (void)ignored;
}

void sw_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

void sw_say_once(_Atomic bool *said, const char *format, ...)
{
    if (atomic_exchange(said, true))
        return;
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

static void wrong(const char *name, const char *text, const char *wanted)
{
    sw_say("%s=%s is not understood: give %s (the default is kept)", name, text,
           wanted);
}

/* -1 where `text` is neither yes nor no. */
static int truth(const char *text)
{
    static const char *const words[] = {"0", "off", "no",  "false",
                                        "1", "on",  "yes", "true"};
    for (int i = 0; i < 8; i++)
        if (!strcasecmp(text, words[i]))
            return i >= 4;
    return -1;
}

static bool size_of(const char *text, size_t *to)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    int shift = 0;
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'm' || *end == 'M')
        shift = 20;
    else if (*end == 'g' || *end == 'G')
        shift = 30;
    end += shift != 0;
    if (end == text || *end || *text == '-' || n > (SIZE_MAX >> shift))
        return false;
    *to = (size_t)n << shift;
    return true;
}

static bool int_of(const char *text, int64_t *to)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    if (*end)
        return false;
    *to = n;
    return true;
}

/* One reader for each kind. Each gets the text of a variable that is set and
 * not empty. */

#define SIZE_WANTED "a size such as 65536, 64k or 2m"

static void read_BOOL(const char *name, const char *text, bool *to)
{
    int is = truth(text);
    if (is < 0)
        wrong(name, text, "on or off");
    else
        *to = is;
}

static void read_SIZE(const char *name, const char *text, size_t *to)
{
    if (!size_of(text, to))
        wrong(name, text, SIZE_WANTED);
}

static void read_INT(const char *name, const char *text, int64_t *to)
{
    if (!int_of(text, to))
        wrong(name, text, "a whole number");
}

static void read_TEXT(const char *name, const char *text, const char **to)
{
    (void)name;
    *to = text;
}

static void read_AUTO_BOOL(const char *name, const char *text, int64_t *to)
{
    int64_t number;
    int is = truth(text);
    if (!strcasecmp(text, "auto"))
        *to = SW_AUTO;
    else if (is >= 0)
        *to = is;
    else if (int_of(text, &number))
        *to = number < 0 ? SW_AUTO : 1;
    else
        wrong(name, text, "auto, on or off");
}

static void read_AUTO_SIZE(const char *name, const char *text, size_t *to)
{
    if (!strcasecmp(text, "auto"))
        *to = SW_AUTO_SIZE;
    else if (!size_of(text, to))
        wrong(name, text, "auto, or " SIZE_WANTED);
}

static void read_AUTO_INT(const char *name, const char *text, int64_t *to)
{
    if (!strcasecmp(text, "auto"))
        *to = SW_AUTO;
    else if (!int_of(text, to))
        wrong(name, text, "auto, or a whole number");
}

static void read_NONE_INT(const char *name, const char *text, int64_t *to)
{
    if (!strcasecmp(text, "none"))
        *to = SW_NONE;
    else if (!int_of(text, to))
        wrong(name, text, "none, or a whole number");
}

static const char *given(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

void sw_settings_load(void)
{
    const char *text;
#define SW_SETTING(KIND, field, NAME, value, help) \
    if ((text = given("STRAIGHTWAY_" #NAME)))      \
        read_##KIND("STRAIGHTWAY_" #NAME, text, &sw_settings.field);
#include "settings.def"
    sw_settings.profile |= sw_settings.trace;
}

/* The number that a kind had in place of its word. */
#define OLD_BOOL NULL
#define OLD_SIZE NULL
#define OLD_INT NULL
#define OLD_TEXT NULL
#define OLD_AUTO_BOOL "-1"
#define OLD_AUTO_SIZE "0"
#define OLD_AUTO_INT "-1"
#define OLD_NONE_INT "0"

static void say_old(const char *name, const char *old, const char *kind)
{
    const char *text = old ? given(name) : NULL;
    if (text && !strcmp(text, old))
        sw_say("%s=%s is now written %s=%s; the next release will not know "
               "the number",
               name, text, name, strncmp(kind, "NONE", 4) ? "auto" : "none");
}

void sw_settings_say_old(void)
{
#define SW_SETTING(KIND, field, NAME, value, help) \
    say_old("STRAIGHTWAY_" #NAME, OLD_##KIND, #KIND);
#include "settings.def"
}
