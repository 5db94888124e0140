/*
 * server.h - a rank starts the engine, straightway-whatif serve.
 *
 * The engine is a process of its own, and no child of the rank (whose program
 * may wait for all of its children). It is in the rank's session but in no
 * process group of the job's, on any core. It ends by itself when all ranks
 * have ended or died.
 */
#ifndef SW_VTIME_FEED_SERVER_H
#define SW_VTIME_FEED_SERVER_H

#include "feed.h"

typedef struct {
    const char *program; /* NULL: straightway-whatif beside the library */
    const char *model;
    const char *result; /* a file to be written, or NULL */
    const char *record; /* a file to be written, or NULL */
    bool check;         /* sw_engine_options_t */
} sw_server_t;

/* Start it on the feeds' descriptor. False: it could not be, and a line on
 * stderr says why; the program can go on without. */
SW_API bool sw_server_start(int feeds, const sw_server_t *server);

/* After all feeds have ended: waits until the engine has written its files.
 * False: the engine has ended without. */
SW_API bool sw_server_wait(sw_feeds_t *feeds);

#endif
