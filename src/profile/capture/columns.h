/*
 * columns.h - a table of a capture: gathered row by row, and written column
 * by column, each as wide as its largest number.
 */
#ifndef SW_PROFILE_CAPTURE_COLUMNS_H
#define SW_PROFILE_CAPTURE_COLUMNS_H

#include "profile/base/blob.h"

typedef struct {
    sw_blob_t *text, *columns; /* what describes it, and its numbers */
    const char *const *names;  /* of the columns, NULL-ended */
    unsigned width;            /* how many */
    sw_blob_t rows;            /* of 64-bit numbers */
    size_t count;
} sw_columns_t;

SW_API sw_columns_t sw_columns_begin(sw_blob_t *text, sw_blob_t *columns,
                                     const char *const *names);
SW_API void sw_columns_row(sw_columns_t *table, const uint64_t *row);
SW_API void sw_columns_end(sw_columns_t *table, const char *name);

#endif
