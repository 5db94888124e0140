/*
 * columns.c - see columns.h.
 */
#include "columns.h"

sw_columns_t sw_columns_begin(sw_blob_t *text, sw_blob_t *columns,
                              const char *const *names)
{
    sw_columns_t t = {.text = text, .columns = columns, .names = names};
    while (names[t.width])
        t.width++;
    return t;
}

void sw_columns_row(sw_columns_t *t, const uint64_t *row)
{
    sw_blob_put(&t->rows, row, t->width * sizeof *row);
    t->count += !t->rows.lost;
}

static unsigned width_of(uint64_t n)
{
    return !n ? 0 : n >> 8 == 0 ? 1 : n >> 16 == 0 ? 2 : n >> 32 == 0 ? 4 : 8;
}

void sw_columns_end(sw_columns_t *t, const char *name)
{
    const uint64_t *at = (const uint64_t *)(const void *)t->rows.at;
    if (t->rows.lost)
        t->text->lost = true;
    sw_blob_text(t->text, "{");
    sw_blob_named_string(t->text, "name", name);
    sw_blob_named(t->text, "rows", t->count);
    sw_blob_text(t->text, "\"columns\": [");
    for (unsigned c = 0; c < t->width; c++) {
        uint64_t all = 0;
        for (size_t r = 0; r < t->count; r++)
            all |= at[r * t->width + c];
        unsigned width = width_of(all);
        sw_blob_text(t->text, "[");
        sw_blob_string(t->text, t->names[c]);
        sw_blob_text(t->text, ", ");
        sw_blob_number(t->text, width);
        sw_blob_text(t->text, "], ");
        for (size_t r = 0; r < t->count && width; r++)
            for (unsigned b = 0; b < width; b++) {
                unsigned char byte = (unsigned char)(at[r * t->width + c] >>
                                                     8 * b);
                sw_blob_put(t->columns, &byte, 1);
            }
    }
    sw_blob_close(t->text, "]}, ");
    sw_blob_free(&t->rows);
}
