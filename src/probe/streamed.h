/*
 * streamed.h - does a large copy gain from going past the caches here?
 */
#ifndef SW_PROBE_STREAMED_H
#define SW_PROBE_STREAMED_H

/* A member of the probe's "floors": the size from which messages are copied so.
 * With it come the µs of a copy of that size by one processor, through the
 * caches and past them. */
void sw_put_streamed(void);

#endif
