/*
 * agreement.c - see agreement.h.
 */
#include "agreement.h"

#include "node/arena/arena.h"

const char *const sw_agreement_full = "the pool of blocks is full";

void sw_agreement_answer(const sw_introduction_t *all, int n, int me,
                         sw_peer_t **peer, sw_agreement_t *to)
{
    *to = (sw_agreement_t){.ok = SW_AGREE_NODE | SW_AGREE_ARENA | SW_AGREE_CMA};
    for (int i = 0; i < n; i++) {
        const sw_introduction_t *in = &all[i];
        peer[i] = NULL;
        if (in->version == SW_TEAM_VERSION &&
            in->virtual_node == all[me].virtual_node)
            peer[i] = sw_peer_attach(&in->card);
        if (!peer[i] || (i == 0 && !sw_peer_control(peer[i]))) {
            to->ok = 0;
            return;
        }
        if (i == me) {
            if (sw_arena.fd < 0)
                to->ok &= ~(uint32_t)SW_AGREE_ARENA;
            continue;
        }
        if (!peer[i]->arena)
            to->ok &= ~(uint32_t)SW_AGREE_ARENA;
        if (!peer[i]->cma)
            to->ok &= ~(uint32_t)SW_AGREE_CMA;
    }
    if (me == 0)
        to->offset = sw_sequence_reserve(n);
    if (me != 0 || to->offset)
        to->ok |= SW_AGREE_BLOCK;
}

/* Why the host serves; NULL: the members share. */
static const char *objection(uint32_t ok)
{
    return !(ok & SW_AGREE_NODE) ? "not on one node"
           : !(ok & (SW_AGREE_ARENA | SW_AGREE_CMA))
               ? "no way to reach a peer's memory"
           : !(ok & SW_AGREE_BLOCK) ? sw_agreement_full
                                    : NULL;
}

sw_sequence_t *sw_agreement_open(const sw_introduction_t *all,
                                 const sw_agreement_t *answers, int n, int me,
                                 sw_peer_t **peer, const char **why)
{
    uint32_t ok = ~0u;
    for (int i = 0; i < n; i++)
        ok &= answers[i].ok;
    uint64_t offset = answers[0].offset;
    *why = objection(ok);
    if (*why) {
        /* The leader returns its block: no member will come to it. */
        if (me == 0 && offset)
            sw_sequence_unreserve(peer[0], offset);
        return NULL;
    }
    sw_team_t *team = sw_team_make(all, n, me, peer, ok & SW_AGREE_ARENA,
                                   ok & SW_AGREE_CMA, answers[0].crowded);
    sw_sequence_t *seq = sw_sequence_open(team, offset);
    sw_team_drop(team);
    return seq;
}
