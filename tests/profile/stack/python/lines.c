/*
 * For test_sites.py: a call whose site is asked for, and what is known
 * of a site, as functions that ctypes can call. It takes python.c in whole, so
 * as to reach the readers of lines and strings, too.
 */
#include "profile/stack/python.c"
#include "profile/stack/site.h"

#include <stdio.h>

SW_API __attribute__((noinline)) uint32_t call(void)
{
    sw_caller_t from = SW_CALLER();
    return sw_site(&from);
}

/* A library that is called from Python, and calls back. */
SW_API uint32_t through(uint32_t (*back)(void))
{
    return back() + 0;
}

SW_API int python_state(void)
{
    return sw_python_state;
}

/* Python frame i of a site as "file\nfunction\nline"; 0: there is none. */
SW_API int line(uint32_t site, int i, char *to, int room)
{
    const sw_site_t *s = sw_table_row(&sw_sites, site);

    if (!site || i >= s->pythons)
        return 0;
    const sw_frame_t *f = sw_table_row(&sw_frames, s->frames[s->natives + i]);
    const sw_python_line_t *l = sw_table_row(&sw_python_lines, f->place);
    return snprintf(to, (size_t)room, "%s\n%s\n%u", l->file, l->function,
                    l->line);
}

SW_API uint32_t line_at(uintptr_t code, int64_t at)
{
    return sw_pycode_line(&layout, code, at);
}

SW_API int text_of(uintptr_t text, char *to, int room)
{
    return (int)sw_pycode_text(&layout, text, to, (size_t)room);
}

/* ns of a call, the best of some rounds. */
SW_API double cost(void)
{
    volatile uint32_t sites = 0;
    uint64_t best = UINT64_MAX;

    for (int r = 0; r < 20; r++) {
        uint64_t start = sw_os_now();
        for (int i = 0; i < 20000; i++)
            sites += call();
        best = sw_min(best, sw_os_now() - start);
    }
    return (double)best / 20000;
}
