/*
 * frame.c - see frame.h.
 */
#include "frame.h"

sw_table_t sw_frames = SW_TABLE(sw_frame_t, 1 << 20);

uint32_t sw_frame_of(uint32_t language, uint32_t place, uint64_t offset)
{
    uint64_t hash = sw_table_mix_end(
        sw_table_mix(sw_table_mix(sw_table_mix(3, language), place), offset));
    sw_find_t find = sw_table_find(&sw_frames, hash);

    for (uint32_t row; (row = sw_table_next(&find));) {
        const sw_frame_t *f = sw_table_row(&sw_frames, row);
        if (f->offset == offset && f->place == place && f->language == language)
            return row;
    }
    sw_frame_t *f = sw_table_new(&sw_frames);
    if (!f)
        return 0;
    *f = (sw_frame_t){offset, place, language};
    return sw_table_publish(&sw_frames, hash);
}
