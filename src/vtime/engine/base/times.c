/*
 * times.c - see times.h.
 */
#include "times.h"

void sw_rank_time_add(sw_rank_time_t *to, const sw_rank_time_t *more, int sign)
{
    to->end += sign * more->end;
    to->compute += sign * more->compute;
    to->noise += sign * more->noise;
    to->messages += sign * more->messages;
    to->collectives += sign * more->collectives;
    to->waiting += sign * more->waiting;
}
