/*
 * settings.h - every setting, in one table.
 *
 * settings.def is the only place where a setting is declared: this structure,
 * the environment reader, the options of `straightway run`, the list that
 * `straightway doctor --settings` prints and docs/settings.md are all made
 * from it. A setting NAME is read from STRAIGHTWAY_NAME; the option is
 * --name with dashes.
 *
 * Sizes take the suffixes k, m, g (powers of 1024). A value that cannot be
 * read is reported once on stderr, with the values that can, and the default
 * stays.
 */
#ifndef SW_NODE_BASE_SETTINGS_H
#define SW_NODE_BASE_SETTINGS_H

#include "base.h"

/* The numbers behind the words "auto" (the library chooses) and "none". */
#define SW_AUTO (-1)
#define SW_AUTO_SIZE 0
#define SW_NONE 0

/* The kinds of setting, and their types: on or off, bytes, a whole number,
 * text; AUTO_ and NONE_: or that word. */
#define SW_SETTING_BOOL bool
#define SW_SETTING_SIZE size_t
#define SW_SETTING_INT int64_t
#define SW_SETTING_TEXT const char *
#define SW_SETTING_AUTO_BOOL int64_t
#define SW_SETTING_AUTO_SIZE size_t
#define SW_SETTING_AUTO_INT int64_t
#define SW_SETTING_NONE_INT int64_t

typedef struct {
#define SW_SETTING(KIND, field, NAME, value, help) SW_SETTING_##KIND field;
#include "settings.def"
} sw_settings_t;

SW_API extern sw_settings_t sw_settings;

/* Fill sw_settings from the environment. Called once, by the library's
 * constructor (or by a test); needs no heap. */
SW_API void sw_settings_load(void);

/* Say which values of the environment are written in the old way: 0 or -1 for
 * "auto" or "none". One rank calls it, once. */
void sw_settings_say_old(void);

/* Say something to the user on stderr, one line, prefixed "straightway: ".
 * Needs no heap. */
SW_API void sw_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The same, once per process for each call site's key. */
SW_API void sw_say_once(_Atomic bool *said, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
