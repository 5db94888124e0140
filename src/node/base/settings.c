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
#define SW_SETTING_BOOL(field, NAME, value, help) .field = value,
#define SW_SETTING_SIZE(field, NAME, value, help) .field = value,
#define SW_SETTING_INT(field, NAME, value, help)  .field = value,
#define SW_SETTING_TEXT(field, NAME, value, help) .field = value,
#include "settings.def"
#undef SW_SETTING_BOOL
#undef SW_SETTING_SIZE
#undef SW_SETTING_INT
#undef SW_SETTING_TEXT
};

static void say(const char *format, va_list args)
{
    char line[1024];
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
    sw_say("%s=%s is not understood: give %s (the default is kept)", name,
           text, wanted);
}

static void read_bool(const char *name, bool *to)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return;
    static const char *const yes[] = {"1", "on", "yes", "true"};
    static const char *const no[] = {"0", "off", "no", "false"};
    for (int i = 0; i < 4; i++) {
        if (!strcasecmp(text, yes[i])) {
            *to = true;
            return;
        }
        if (!strcasecmp(text, no[i])) {
            *to = false;
            return;
        }
    }
    wrong(name, text, "on or off");
}

static void read_size(const char *name, size_t *to)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return;
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
    if (end == text || *end || *text == '-' || n > (SIZE_MAX >> shift)) {
        wrong(name, text, "a size such as 65536, 64k or 2m");
        return;
    }
    *to = (size_t)n << shift;
}

static void read_int(const char *name, int64_t *to)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return;
    char *end;
    long long n = strtoll(text, &end, 10);
    if (*end)
        wrong(name, text, "a whole number");
    else
        *to = n;
}

static void read_text(const char *name, const char **to)
{
    const char *text = getenv(name);
    if (text)
        *to = text;
}

void sw_settings_load(void)
{
#define SW_SETTING_BOOL(field, NAME, value, help) \
    read_bool("STRAIGHTWAY_" #NAME, &sw_settings.field);
#define SW_SETTING_SIZE(field, NAME, value, help) \
    read_size("STRAIGHTWAY_" #NAME, &sw_settings.field);
#define SW_SETTING_INT(field, NAME, value, help) \
    read_int("STRAIGHTWAY_" #NAME, &sw_settings.field);
#define SW_SETTING_TEXT(field, NAME, value, help) \
    read_text("STRAIGHTWAY_" #NAME, &sw_settings.field);
#include "settings.def"
#undef SW_SETTING_BOOL
#undef SW_SETTING_SIZE
#undef SW_SETTING_INT
#undef SW_SETTING_TEXT
    sw_settings.profile |= sw_settings.trace;
}
