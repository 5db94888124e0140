/*
 * report.h - a process as JSON: what its watch file says, and where its
 * threads are. The form is that of straightway/schemas/where.schema.json.
 */
#ifndef SW_WATCH_READER_REPORT_H
#define SW_WATCH_READER_REPORT_H

#include "display.h"

typedef struct {
    bool stacks;  /* of calls */
    bool samples; /* of threads in the program's own code */
} sw_report_options_t;

/* False: the process has ended, and nothing is written. */
bool sw_report_process(sw_display_t *d, const sw_report_options_t *options);

#endif
