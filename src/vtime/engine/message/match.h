/*
 * match.h - messages meet receives.
 */
#ifndef SW_VTIME_ENGINE_MESSAGE_MATCH_H
#define SW_VTIME_ENGINE_MESSAGE_MATCH_H

#include "vtime/engine/base/state.h"
#include "vtime/engine/base/message.h"
#include "vtime/engine/base/request.h"

/* What the engine decided of a receive whose MATCHED may come later. */
typedef struct {
    uint64_t context, bytes;
    int32_t peer, tag;
    sw_ps_t began, arrival, receive_time;
    bool returned; /* the message: it was another's */
} sw_decided_t;

void sw_match_message(sw_engine_t *engine, sw_message_t *message);
void sw_match_receive(sw_engine_t *engine, sw_request_t *receive);
void sw_match_withdraw(sw_engine_t *engine, sw_request_t *receive);
/* The request counts as never made. */
void sw_match_cancel(sw_engine_t *engine, sw_request_t *request);
/* All data of a message are there. */
void sw_match_arrived(sw_engine_t *engine, sw_message_t *message);
/* Returns the unmatched message that arrives first, of those that fit and
 * arrive no later than `by`; NULL: none. Sets `after` to the earliest arrival
 * after `by`. */
sw_message_t *sw_match_first(sw_engine_t *engine, sw_rank_t *rank, int32_t peer,
                             int32_t tag, uint64_t context, sw_ps_t by,
                             const sw_request_t *upto, sw_ps_t *after);
/* Decides what MPI_ANY_SOURCE receives it can by `time`, and looks ahead. */
void sw_match_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* Gives a receive with MPI_ANY_SOURCE this sender and tag. */
void sw_match_name(sw_engine_t *engine, sw_request_t *receive, int32_t peer,
                   int32_t tag);
/* A receive, or a message, that was in its place early: it is posted, or sent,
 * now. */
void sw_match_posted(sw_engine_t *engine, sw_request_t *receive);
void sw_match_sent(sw_engine_t *engine, sw_message_t *message);
/* A message that was matched is not: in its channel again. */
void sw_match_return(sw_engine_t *engine, sw_message_t *message);
/* Looks at the rank again at `time`, unless the engine does so anyway. */
void sw_match_look(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* The engine cannot ask the host: it decides these receives from now on. */
void sw_match_take_over(sw_engine_t *engine, sw_rank_t *rank);

#endif
