/*
 * mail.h - messages along a lane, of any length and several at once.
 *
 * A long message goes in pieces: some hosts stall for tens of milliseconds on
 * one of several MiB whose receiver comes late, and the host counts in int.
 * Sender and receiver know a message's length, but for letters, whose receiver
 * learns it from the host.
 */
#ifndef SW_MPI_SPAN_MAIL_H
#define SW_MPI_SPAN_MAIL_H

#include "await.h"
#include "node/base/grow.h"

typedef struct {
    sw_span_t *s;
    MPI_Request *request; /* [count] under way */
    uint32_t count, room;
    size_t bytes; /* of these */
    int code;     /* the first that was bad of the host's */
} sw_mail_t;

/* Starts to send, or to receive, `bytes` bytes. */
void sw_mail_send(sw_mail_t *mail, int node, const void *data, size_t bytes);
void sw_mail_receive(sw_mail_t *mail, int node, void *data, size_t bytes);

/* Waits for all that was started, and forgets it. */
int sw_mail_finish(sw_mail_t *mail);

/* A letter: one message, short enough to be one piece of any length. The
 * receiver gets it in temporary memory (node/temporary.h); NULL: none comes. */
void sw_mail_send_letter(sw_mail_t *mail, int node, const void *data,
                         size_t bytes);
void *sw_mail_open(sw_mail_t *mail, int node, size_t *bytes);

#endif
