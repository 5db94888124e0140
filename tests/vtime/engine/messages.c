/*
 * Times of messages, against times by hand. All tests have
 *
 *   o = 10, o' = 20, L = 100, g = 5, G = 1 a byte, S = 1000 (ranks.h)
 *
 * A rank sends an eager message of s bytes at t. Then
 *
 *   t + 10          the send is complete
 *   t + 110 + s     the message arrives
 *   t + 130 + s     the receive is complete
 */
#include "ranks.h"

static void eager(void)
{
    ranks_t *r = ranks_linked(2);
    send(r, 0, 1, 7, 1); /* 0 -> 10, is there at 111 */
    recv(r, 1, 0, 7);    /* 131 */
    send(r, 1, 0, 7, 1); /* 131 -> 141, is there at 242 */
    recv(r, 0, 1, 7);    /* 262 */
    ranks_run(r);
    ENDS(r, 0, 262);
    ENDS(r, 1, 141);
    MUST(r->result.messages == 2 && r->result.bytes == 2);
    MUST(r->result.operations == 4 && r->result.end == 262);
    ranks_free(r);
}

static void rendezvous(void)
{
    ranks_t *r = ranks_linked(2);
    /* request there at 110, answer here at 220, data leave until 2220 */
    send(r, 0, 1, 0, 2000);
    recv(r, 1, 0, 0); /* 320 + 2000 + 20 */
    ranks_run(r);
    ENDS(r, 0, 2220);
    ENDS(r, 1, 2340);
    ranks_free(r);
}

static void late(void)
{
    ranks_t *r = ranks_linked(2); /* receiver, rendezvous */
    send(r, 0, 1, 0, 2000);       /* met at 1000, answer at 1110 */
    compute(r, 1, 1000);
    recv(r, 1, 0, 0); /* 1210 + 2000 + 20 */
    ranks_run(r);
    ENDS(r, 0, 3110);
    ENDS(r, 1, 3230);
    ranks_free(r);

    r = ranks_linked(2); /* receiver, eager */
    send(r, 0, 1, 0, 1);
    compute(r, 1, 1000);
    recv(r, 1, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 10);
    ENDS(r, 1, 1020);
    ranks_free(r);

    r = ranks_linked(2); /* sender */
    compute(r, 0, 500);
    send(r, 0, 1, 0, 1);
    recv(r, 1, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 510);
    ENDS(r, 1, 631);
    MUST(r->result.ranks[0].compute == 500);
    MUST(r->result.ranks[1].messages == 631);
    ranks_free(r);
}

static void ring(void)
{
    ranks_t *r = ranks_linked(4); /* each hop 10 + 100 + 1 + 20 = 131 */
    send(r, 0, 1, 0, 1);
    for (uint32_t i = 1; i < 4; i++) {
        recv(r, i, (int)i - 1, 0);
        send(r, i, (i + 1) % 4, 0, 1);
    }
    recv(r, 0, 3, 0);
    ranks_run(r);
    ENDS(r, 0, 4 * 131);
    ENDS(r, 3, 3 * 131 + 10);
    ranks_free(r);
}

static void tree(void)
{
    ranks_t *r = ranks_linked(4);
    send(r, 0, 2, 0, 1); /* 0 -> 10 */
    send(r, 0, 1, 0, 1); /* 10 -> 20, into the wire at 20, there 121 */
    recv(r, 2, 0, 0);    /* 131 */
    send(r, 2, 3, 0, 1); /* 141 */
    recv(r, 1, 0, 0);    /* 141 */
    recv(r, 3, 2, 0);    /* 262 */
    ranks_run(r);
    ENDS(r, 0, 20);
    ENDS(r, 1, 141);
    ENDS(r, 2, 141);
    ENDS(r, 3, 262);
    ranks_free(r);
}

static void stream(sw_ps_t g, uint64_t bytes, sw_ps_t end)
{
    ranks_t *r = ranks_linked(2);
    for (int class = 0; class < SW_CLASS_COUNT; class++)
        r->model.links[class].g = g;
    for (int i = 0; i < 3; i++) {
        send(r, 0, 1, 0, bytes);
        recv(r, 1, 0, 0);
    }
    ranks_run(r);
    ENDS(r, 0, 30);
    ENDS(r, 1, end);
    ranks_free(r);
}

/* Two senders, one receiver: its port takes one after the other. */
static void incast(void)
{
    ranks_t *r = ranks_linked(3);
    send(r, 1, 0, 0, 500); /* head at 110, there at 610 */
    compute(r, 2, 50);
    send(r, 2, 0, 0, 500); /* head at 160, there at 1110 */
    recv(r, 0, 2, 0);      /* 1130 */
    recv(r, 0, 1, 0);      /* 1150 */
    ranks_run(r);
    ENDS(r, 0, 1150);
    ranks_free(r);
}

/* The same, where the first sender does a lot of small things before. */
static void long_way(void)
{
    ranks_t *r = ranks_linked(3);
    for (int i = 0; i < 1000; i++)
        compute(r, 1, 1);
    send(r, 1, 0, 0, 500); /* 1010, head 1110, there 1610 */
    compute(r, 2, 1050);
    send(r, 2, 0, 0, 500); /* head at 1160, there 2110 */
    recv(r, 0, 1, 0);      /* 1630 */
    recv(r, 0, 2, 0);      /* 2130 */
    ranks_run(r);
    ENDS(r, 0, 2130);
    ranks_free(r);
}

/* Ranks of a node share its port to the network. */
static void node_port(void)
{
    ranks_t *r = ranks_linked(4);
    r->model.places.per_node = r->model.places.per_domain = 2;
    send(r, 0, 2, 0, 500); /* enters at 10, port busy until 510 */
    compute(r, 1, 20);
    send(r, 1, 3, 0, 500); /* ready at 30, enters at 510, head 610 */
    recv(r, 2, 0, 0);      /* 630 */
    recv(r, 3, 1, 0);      /* there 1110, complete 1130 */
    ranks_run(r);
    ENDS(r, 2, 630);
    ENDS(r, 3, 1130);
    ranks_free(r);
}

static void exchange(void)
{
    ranks_t *r = ranks_linked(2);
    for (uint32_t i = 0; i < 2; i++) {
        irecv(r, i, 1 - (int)i, 0, 1);
        isend(r, i, 1 - i, 0, 1, 2);
        wait_for(r, i, 1); /* 131 */
        wait_for(r, i, 2);
        wait_for(r, i, 3); /* unknown: no time */
    }
    ranks_run(r);
    ENDS(r, 0, 131);
    ENDS(r, 1, 131);
    ranks_free(r);
}

/* Data of a rendezvous leave while the sender computes; an eager message that
 * is sent meanwhile waits for the port. */
static void overlap(void)
{
    ranks_t *r = ranks_linked(2);
    isend(r, 0, 1, 0, 2000, 1); /* enters at 220, until 2220 */
    compute(r, 0, 490);         /* from 10 to 500 */
    send(r, 0, 1, 1, 100);      /* 510, enters at 2220, head 2320 */
    wait_for(r, 0, 1);
    recv(r, 1, 0, 0); /* there 2320, complete 2340 */
    recv(r, 1, 0, 1); /* there 2420, complete 2440 */
    ranks_run(r);
    ENDS(r, 0, 2220);
    ENDS(r, 1, 2440);
    ranks_free(r);
}

static void modes(void)
{
    /* Synchronous: the data follow the answer. */
    ranks_t *r = ranks_linked(2);
    put(r, 0,
        (sw_vop_t){.kind = SW_OP_SEND,
                   .peer = 1,
                   .bytes = 8,
                   .flags = SW_SEND_SYNCHRONOUS});
    compute(r, 1, 300);
    recv(r, 1, 0, 0); /* met 300, answer 410, there 518 */
    ranks_run(r);
    ENDS(r, 0, 418);
    ENDS(r, 1, 538);
    ranks_free(r);

    r = ranks_linked(2); /* buffered: complete at once */
    put(r, 0,
        (sw_vop_t){.kind = SW_OP_SEND,
                   .peer = 1,
                   .bytes = 2000,
                   .flags = SW_SEND_BUFFERED});
    compute(r, 1, 300);
    recv(r, 1, 0, 0); /* answer 410, there 2510 */
    ranks_run(r);
    ENDS(r, 0, 10);
    ENDS(r, 1, 2530);
    ranks_free(r);

    r = ranks_linked(1); /* to oneself */
    irecv(r, 0, 0, 5, 1);
    send(r, 0, 0, 5, 1);
    wait_for(r, 0, 1);
    ranks_run(r);
    ENDS(r, 0, 131);
    ranks_free(r);
}

/* Messages of one sender are taken in order, by tag; contexts are apart. */
/* It takes the same at any size, and waits for no receiver; smaller ones, and
 * where the model does not know it, go as messages. */
static void given(bool known)
{
    ranks_t *r = ranks_linked(2);
    sw_model_link_t *link = &r->model.links[SW_CLASS_DOMAIN];
    link->given = calloc(1, sizeof *link->given);
    MUST(link->given);
    *link->given = (sw_link_point_t){2000, 3, 40, 50, 6};
    link->given_count = known;
    static const uint64_t sizes[] = {1000000, 1999};
    for (int i = 0; i < 2; i++)
        put(r, 0,
            (sw_vop_t){.kind = SW_OP_SEND,
                       .peer = 1,
                       .tag = i,
                       .bytes = sizes[i],
                       .flags = SW_SEND_GIVEN});
    recv(r, 1, 0, 0);
    compute(r, 1, 100000);
    recv(r, 1, 0, 1);
    ranks_run(r);
    /* Of the second, the request is there long before its receive is posted,
     * whose answer takes o + L: its data arrive L + G s later. */
    sw_ps_t first = known ? 3 + 40 + 6 : 110 + 110 + 100 + 1000000 + 20;
    ENDS(r, 1, first + 100000 + 110 + 100 + 1999 + 20);
    ranks_free(r);
}

static void order(void)
{
    ranks_t *r = ranks_linked(2);
    context(r, 9, 2, MEMBERS(1, 0)); /* the members in another order */
    put(r, 0,
        (sw_vop_t){.kind = SW_OP_SEND,
                   .peer = 1,
                   .tag = 1,
                   .context = 9,
                   .bytes = 1}); /* there 111 */
    send(r, 0, 1, 1, 200);       /* ready 20, head 120, there 320 */
    send(r, 0, 1, 2, 1);         /* enters 220, there 321 */
    send(r, 0, 1, 1, 300);       /* ready 40, enters 225, head 325, there 625 */
    recv(r, 1, 0, 2);            /* 341 */
    recv(r, 1, 0, 1);            /* the one of 200: 361 */
    put(r, 1,
        (sw_vop_t){.kind = SW_OP_RECV,
                   .peer = 0,
                   .tag = SW_OP_ANY,
                   .context = 9}); /* 381 */
    recv(r, 1, 0, SW_OP_ANY);      /* 645 */
    ranks_run(r);
    ENDS(r, 1, 645);
    ranks_free(r);
}

/* A computation that takes half as long. */
static void speed(void)
{
    ranks_t *r = ranks_linked(1);
    r->model.cpu_speed = 2;
    compute(r, 0, 1001);
    ranks_run(r);
    ENDS(r, 0, 501);
    ranks_free(r);
}

int main(void)
{
    eager();
    rendezvous();
    given(true);
    given(false);
    late();
    ring();
    tree();
    /* Into the wire at 10, 60, 110; there at 111, 161, 211. */
    stream(50, 1, 231);
    /* Into the wire at 10, 510, 1010; there at 610, 1110, 1610. */
    stream(5, 500, 1630);
    incast();
    long_way();
    node_port();
    exchange();
    overlap();
    modes();
    order();
    speed();
    return 0;
}
