/*
 * json.h - JSON on standard output, piece by piece.
 *
 * Commas and names of members are this file's concern. A name of NULL is that
 * of an entry of a list. Text may hold any bytes: those that are no UTF-8
 * become U+FFFD.
 */
#ifndef SW_WATCH_READER_JSON_H
#define SW_WATCH_READER_JSON_H

#include "node/base/base.h"

/* `what` is '{' or '['. */
void sw_json_begin(const char *name, char what);
void sw_json_end(void);

void sw_json_text(const char *name, const char *text);
/* The same of a field that may lack its zero at the end. */
void sw_json_field(const char *name, const char *text, size_t room);
void sw_json_number(const char *name, int64_t value);
void sw_json_real(const char *name, double value);
void sw_json_bool(const char *name, bool value);
void sw_json_null(const char *name);

#endif
