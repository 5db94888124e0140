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

typedef struct {
#define SW_SETTING_BOOL(field, NAME, value, help) bool field;
#define SW_SETTING_SIZE(field, NAME, value, help) size_t field;
#define SW_SETTING_INT(field, NAME, value, help)  int64_t field;
#define SW_SETTING_TEXT(field, NAME, value, help) const char *field;
#include "settings.def"
#undef SW_SETTING_BOOL
#undef SW_SETTING_SIZE
#undef SW_SETTING_INT
#undef SW_SETTING_TEXT
} sw_settings_t;

SW_API extern sw_settings_t sw_settings;

/* Fill sw_settings from the environment. Called once, by the library's
 * constructor (or by a test); needs no heap. */
SW_API void sw_settings_load(void);

/* Say something to the user on stderr, one line, prefixed "straightway: ".
 * Needs no heap. */
SW_API void sw_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The same, once per process for each call site's key. */
SW_API void sw_say_once(_Atomic bool *said, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
