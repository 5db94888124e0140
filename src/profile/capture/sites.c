/*
 * sites.c - see sites.h.
 */
#include "sites.h"

#include "columns.h"
#include "profile/stack/python.h"
#include "profile/stack/site.h"

static void list_lines(sw_blob_t *text)
{
    uint32_t n = sw_table_rows(&sw_python_lines);
    sw_blob_text(text, "\"python\": [null, ");
    for (uint32_t i = 1; i <= n; i++) {
        const sw_python_line_t *l = sw_table_row(&sw_python_lines, i);
        sw_blob_text(text, "{");
        sw_blob_named_string(text, "file", l->file);
        sw_blob_named_string(text, "function", l->function);
        if (l->line)
            sw_blob_named(text, "line", l->line);
        sw_blob_close(text, "}, ");
    }
    sw_blob_close(text, "], ");
}

static void list_modules(sw_blob_t *text)
{
    uint32_t n = sw_table_rows(&sw_modules);
    sw_blob_text(text, "\"modules\": [null, ");
    for (uint32_t i = 1; i <= n; i++) {
        const sw_module_t *m = sw_table_row(&sw_modules, i);
        sw_blob_text(text, "{");
        sw_blob_named_string(text, "path", m->path);
        sw_blob_named_string(text, "build_id", m->build_id);
        sw_blob_close(text, "}, ");
    }
    sw_blob_close(text, "], ");
}

void sw_capture_sites(sw_blob_t *text, sw_blob_t *tables, sw_blob_t *columns)
{
    static const char *const frame_names[] = {"language", "place", "offset",
                                              NULL};
    static const char *const stack_names[] = {"site", "depth", "frame", NULL};
    sw_columns_t frames = sw_columns_begin(tables, columns, frame_names);
    sw_columns_t stacks = sw_columns_begin(tables, columns, stack_names);
    /* Sites first: what they name is there already. */
    uint32_t sites = sw_table_rows(&sw_sites);
    for (uint32_t s = 1; s <= sites; s++) {
        const sw_site_t *site = sw_table_row(&sw_sites, s);
        uint32_t depth = (uint32_t)site->natives + site->pythons;
        for (uint32_t d = 0; d < depth; d++) {
            const uint64_t row[] = {s, d, site->frames[d] - 1};
            sw_columns_row(&stacks, row);
        }
    }
    uint32_t n = sw_table_rows(&sw_frames);
    for (uint32_t i = 1; i <= n; i++) {
        const sw_frame_t *f = sw_table_row(&sw_frames, i);
        const uint64_t row[] = {f->language, f->place, f->offset};
        sw_columns_row(&frames, row);
    }
    sw_columns_end(&frames, "frames");
    sw_columns_end(&stacks, "stacks");
    list_modules(text);
    list_lines(text);
}
