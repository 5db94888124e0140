/*
 * question.h - what a running program asks about virtual time.
 */
#ifndef SW_VTIME_ENGINE_QUESTION_QUESTION_H
#define SW_VTIME_ENGINE_QUESTION_QUESTION_H

#include "vtime/engine/base/state.h"

/* One more request of the rank's next question. */
void sw_question_list(sw_engine_t *engine, sw_rank_t *rank, uint32_t number);
/* A rank has come to it: true, it is answered. */
bool sw_question_ask(sw_engine_t *engine, sw_rank_t *rank, uint64_t context);
/* It will not be answered: let the host decide. */
void sw_question_give_up(sw_engine_t *engine, sw_rank_t *rank);
/* At a time when all before it is decided. */
void sw_question_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);

#endif
