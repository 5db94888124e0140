/*
 * mailbox.c - see mailbox.h.
 */
#include "mailbox.h"

#include <stdlib.h>
#include <string.h>

/* Where no more places than this have sent, the owner looks at all. */
#define FEW 8
/* So often a pipe is empty before its bit is cleared. */
#define COLD 64
/* So many messages of one place at most in one turn. */
#define AT_ONCE 32

typedef struct {
    sw_pipe_in_t pipe;
    int place;
    unsigned empty; /* looks in vain, one after another */
} in_t;

size_t sw_mailbox_most;
sw_doorbell_t *sw_mailbox_doorbell;
sw_mailbox_out_t *sw_mailbox_outs;
uint64_t sw_mailbox_came;

static sw_mailbox_t *mine;
static uint64_t mine_at;
static uint32_t cells;
static int places, me;
static const sw_peer_t **peer_at; /* [places] */
static in_t **in_at;              /* [places], NULL: it has not sent yet */
static in_t **ins;                /* those that have sent */
static unsigned in_count, swept;
static uint64_t met[SW_MAILBOX_PLACES / 64]; /* bits of `ins` */

/* All pipes into a process take about 4 MiB at the most. But each has room for
 * messages of two KiB. */
static uint32_t cells_for(int n)
{
    uint32_t most = 1024;
    while (most > 128 &&
           (size_t)n * most * sizeof(sw_cell_t) > ((size_t)4 << 20))
        most /= 2;
    return most;
}

static char *pipe_in(sw_mailbox_t *mailbox, int place)
{
    return (char *)mailbox + sizeof *mailbox +
           (size_t)place * sw_pipe_bytes(cells);
}

static bool make_tables(void)
{
    size_t n = (size_t)places;
    peer_at = calloc(n, sizeof *peer_at);
    in_at = calloc(n, sizeof *in_at);
    ins = calloc(n, sizeof *ins);
    sw_mailbox_outs = calloc(n, sizeof *sw_mailbox_outs);
    return peer_at && in_at && ins && sw_mailbox_outs;
}

uint64_t sw_mailbox_open(int places_now, int me_now)
{
    if (mine_at || places_now > SW_MAILBOX_PLACES || places_now < 1)
        return mine_at;
    places = places_now;
    me = me_now;
    cells = cells_for(places);
    if (!make_tables())
        return 0;
    /* The pool's block begins with a header of its own. */
    size_t head = sw_round_up(sizeof(sw_block_t), SW_LINE);
    size_t bytes = head + sizeof *mine + (size_t)places * sw_pipe_bytes(cells);
    uint64_t at = sw_segment_alloc(bytes, head + sizeof *mine, 1);
    if (!at)
        return 0;
    mine_at = at + head;
    mine = (sw_mailbox_t *)(sw_segment()->base + mine_at);
    sw_mailbox_most = sw_pipe_most(cells);
    sw_mailbox_doorbell = &mine->doorbell;
    return mine_at;
}

bool sw_mailbox_meet(int place, const sw_peer_t *peer, uint64_t offset)
{
    if (!peer->control || !offset)
        return false;
    peer_at[place] = peer;
    sw_mailbox_outs[place].peer = peer;
    sw_mailbox_outs[place].offset = offset;
    return true;
}

/* The owner looks at no pipe before its sender has rung: what stands there from
 * another use of the memory is cleared first. */
sw_mailbox_out_t *sw_mailbox_first(int place)
{
    sw_mailbox_out_t *out = &sw_mailbox_outs[place];
    sw_mailbox_t *to = (sw_mailbox_t *)(out->peer->control + out->offset);
    char *pipe = pipe_in(to, me);
    memset(pipe, 0, sw_pipe_bytes(cells));
    if (!sw_pipe_open_out(&out->pipe, pipe, cells))
        return NULL;
    out->rung = &to->rung[me / 64];
    out->bit = (uint64_t)1 << me % 64;
    out->mailbox = to;
    return out;
}

void sw_mailbox_ring(int place)
{
    const sw_mailbox_out_t *out = &sw_mailbox_outs[place];
    sw_mailbox_t *to = (sw_mailbox_t *)(out->peer->control + out->offset);
    sw_doorbell_ring(&to->doorbell);
}

/* Receiving ---------------------------------------------------------------- */

/* NULL: no memory; the next turn tries again. */
static in_t *meet(int place)
{
    in_t *in = malloc(sizeof *in);
    if (!in)
        return NULL;
    *in = (in_t){.place = place};
    sw_pipe_open_in(&in->pipe, pipe_in(mine, place), cells,
                    peer_at[place]->arena);
    in_at[place] = in;
    ins[in_count++] = in;
    met[place / 64] |= (uint64_t)1 << place % 64;
    return in;
}

static unsigned look(in_t *in, sw_mailbox_taker_t *take)
{
    const sw_cell_t *cell;
    unsigned n = 0;
    while (n < AT_ONCE && (cell = sw_pipe_peek(&in->pipe)) &&
           take(in->place, cell)) {
        sw_pipe_pop(&in->pipe);
        n++;
    }
    sw_mailbox_came += n;
    return n;
}

static void cool(in_t *in, unsigned came)
{
    in->empty = came ? 0 : in->empty + 1;
    if (in->empty < COLD)
        return;
    in->empty = 0;
    atomic_fetch_and_explicit(&mine->rung[in->place / 64],
                              ~((uint64_t)1 << in->place % 64),
                              memory_order_acquire);
}

/* Look where bits are set: at all such pipes, or only at those that are new. */
static unsigned look_by_bits(bool all, sw_mailbox_taker_t *take)
{
    unsigned n = 0;
    for (int word = 0; word * 64 < places; word++) {
        uint64_t bits = atomic_load_explicit(&mine->rung[word],
                                             memory_order_acquire);
        for (bits &= all ? ~(uint64_t)0 : ~met[word]; bits; bits &= bits - 1) {
            int place = word * 64 + __builtin_ctzll(bits);
            in_t *in = in_at[place] ? in_at[place] : meet(place);
            unsigned came = in ? look(in, take) : 0;
            n += came;
            if (all && in)
                cool(in, came);
        }
    }
    return n;
}

unsigned sw_mailbox_turn(bool all, sw_mailbox_taker_t *take)
{
    unsigned n = 0;
    if (!all && in_count > FEW) {
        in_t *in = ins[swept++ % in_count];
        return look_by_bits(true, take) + look(in, take);
    }
    for (unsigned i = 0; i < in_count; i++)
        n += look(ins[i], take);
    return n + look_by_bits(false, take);
}
