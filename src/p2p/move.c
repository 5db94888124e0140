/*
 * move.c - see move.h.
 *
 * The table of one line was measured (docs/performance.md): on an AMD EPYC,
 * streaming loses a tenth at 4 MiB and wins a third from 16 MiB on. Half of
 * the last-level cache is what a message and its copy fill; the bounds are for
 * caches that many cores share, and for those that are not what they say.
 */
#include "move.h"

#include "node/base/copy.h"
#include "node/base/settings.h"
#include "topology/machine.h"

#define LEAST ((size_t)8 << 20)
#define MOST ((size_t)16 << 20)

size_t sw_move_streams_from(void)
{
    return sw_settings.stream_min != SW_AUTO_SIZE
               ? sw_settings.stream_min
               : sw_min(sw_max(sw_machine_l3_bytes() / 2, LEAST), MOST);
}

void sw_move(const sw_data_t *from, const sw_data_t *to, size_t begin,
             size_t end, size_t whole)
{
    if (sw_unlikely(whole >= LEAST || sw_settings.stream_min) &&
        !from->layout && !to->layout && whole >= sw_move_streams_from())
        sw_copy_past(to->at + begin, from->at + begin, end - begin);
    else
        sw_data_copy(from, to, begin, end);
}
