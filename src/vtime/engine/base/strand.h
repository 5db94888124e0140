/*
 * strand.h - something that has a clock and goes on by itself.
 *
 * A rank's main program is a strand, and so is each further thread of it that
 * calls MPI. So is a member's part in a collective that goes by messages. A
 * strand runs as far as it can without undecided facts about others, and then
 * sleeps until a request is complete.
 */
#ifndef SW_VTIME_ENGINE_BASE_STRAND_H
#define SW_VTIME_ENGINE_BASE_STRAND_H

#include "names.h"
#include "vtime/model/plan.h"

struct sw_strand {
    sw_strand_t *queued; /* the next that may run */
    sw_ps_t clock;
    sw_ps_t port; /* loggopsim: its own sends leave it free */
    uint32_t rank;
    uint32_t number; /* 0: the main program; of those it began */
    uint32_t sends;
    uint32_t pending; /* requests it waits for */
    bool ready, main;
    bool apart; /* the main program goes on meanwhile */
    /* A collective by messages. */
    const sw_algorithm_t *algorithm;
    sw_context_t *context;
    sw_meeting_t *meeting; /* NULL: the members' times are known */
    sw_call_t call;
    uint32_t me, step;
    int32_t tag;
    double scale;
    uint64_t reduced;
    sw_request_t *send, *receive, *owner;
};

#endif
