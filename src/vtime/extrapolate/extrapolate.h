/*
 * extrapolate.h - programs that were not run: regular ones, and those of more
 * ranks than were recorded, as files of operations.
 */
#ifndef SW_VTIME_EXTRAPOLATE_EXTRAPOLATE_H
#define SW_VTIME_EXTRAPOLATE_EXTRAPOLATE_H

#include "vtime/formats/convert.h"

/* synthetic.c: argv has the words behind --synthetic. */
bool sw_synthetic_ops(char **argv, sw_converted_t *done);
/* extrapolate.c: as the program would be on more ranks. */
bool sw_extrapolate_ops(const char *in, const char *out, uint32_t ranks,
                        sw_converted_t *done);

#endif
