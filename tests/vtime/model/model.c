/*
 * What messages cost, by constants and by measured points, between which ranks.
 */
#include "must.h"

#include "vtime/model/model.h"
#include "vtime/model/network.h"
#include "vtime/model/words.h"

#include <string.h>

static void test_a_new_model_is_free(void)
{
    sw_model_t m;
    sw_cost_t c;
    sw_model_init(&m, 7);
    sw_model_message(&m, 0, 6, 1 << 30, 0, &c);
    MUST(!c.send && !c.latency && !c.transfer && !c.gap && !c.receive);
    MUST(!c.answer && !c.rendezvous && !c.network);
    MUST(sw_model_nodes(&m) == 1 && m.cpu_speed == 1);
    sw_model_free(&m);
}

static void test_places(void)
{
    sw_model_t m;
    sw_model_init(&m, 21);
    m.places.per_node = 8;
    m.places.per_domain = 3; /* does not divide 8: begins anew */
    MUST(sw_model_nodes(&m) == 3);
    MUST(sw_model_node(&m, 7) == 0 && sw_model_node(&m, 8) == 1);
    MUST(sw_model_class(&m, 4, 4) == SW_CLASS_SELF);
    MUST(sw_model_class(&m, 3, 5) == SW_CLASS_DOMAIN);
    MUST(sw_model_class(&m, 2, 3) == SW_CLASS_NODE);
    MUST(sw_model_class(&m, 8, 10) == SW_CLASS_DOMAIN);
    MUST(sw_model_class(&m, 8, 11) == SW_CLASS_NODE);
    MUST(sw_model_class(&m, 7, 8) == SW_CLASS_NETWORK);
    m.places.per_domain = 0; /* a node is one domain */
    MUST(sw_model_class(&m, 0, 7) == SW_CLASS_DOMAIN);
    uint32_t node[21] = {0}, domain[21] = {0};
    node[20] = 5;
    node[3] = 5;
    domain[20] = 1;
    m.places.node = memcpy(malloc(sizeof node), node, sizeof node);
    m.places.domain = memcpy(malloc(sizeof domain), domain, sizeof domain);
    MUST(sw_model_nodes(&m) == 6);
    MUST(sw_model_class(&m, 3, 20) == SW_CLASS_NODE);
    MUST(sw_model_class(&m, 0, 20) == SW_CLASS_NETWORK);
    MUST(sw_model_class(&m, 0, 2) == SW_CLASS_DOMAIN);
    sw_model_free(&m);
}

static void test_constants(void)
{
    sw_model_t m;
    sw_cost_t c;
    sw_model_init(&m, 4);
    m.places.per_node = 2;
    m.links[SW_CLASS_NETWORK] = (sw_model_link_t){
        .o_send = 400,
        .o_recv = 300,
        .L = 1000,
        .g = 250,
        .O_send = 0.5,
        .O_recv = 0.25,
        .G = 80,
        .S = 4096,
    };
    sw_model_message(&m, 0, 3, 4096, 0, &c);
    MUST(c.send == 400 + 2048 && c.receive == 300 + 1024);
    MUST(c.latency == 1000 && c.transfer == 80 * 4096 && c.gap == c.transfer);
    MUST(c.answer == 1400 && !c.rendezvous && c.network);
    sw_model_message(&m, 0, 3, 4097, 0, &c);
    MUST(c.rendezvous);
    sw_model_message(&m, 0, 3, 2, 0, &c);
    MUST(c.gap == 250 && c.transfer == 160);
    /* The other class is another link. */
    sw_model_message(&m, 0, 1, 4097, 0, &c);
    MUST(!c.send && !c.network && !c.rendezvous);
    /* Nothing overflows. */
    m.links[SW_CLASS_NETWORK].G = 1e12;
    sw_model_message(&m, 0, 3, UINT64_MAX, 0, &c);
    MUST(c.transfer == SW_PS_MOST);
    sw_model_free(&m);
}

static void test_points(void)
{
    static const sw_link_point_t points[] = {
        {8, 100, 1000, 50, 200},
        {108, 200, 3000, 150, 300},
        {208, 200, 3500, 200, 250},
    };
    sw_model_t m;
    sw_cost_t c;
    sw_model_init(&m, 2);
    sw_model_link_t *link = &m.links[SW_CLASS_DOMAIN];
    link->points[0] = memcpy(malloc(sizeof points), points, sizeof points);
    link->point_count[0] = 3;
    sw_model_message(&m, 0, 1, 0, 0, &c); /* below the first, as it */
    MUST(c.send == 100 && c.latency == 1000 && !c.transfer && c.gap == 50);
    MUST(c.receive == 200 && c.answer == 1100);
    sw_model_message(&m, 0, 1, 8, 0, &c);
    MUST(c.send == 100 && c.latency + c.transfer == 1000);
    sw_model_message(&m, 0, 1, 58, 0, &c); /* halfway */
    MUST(c.send == 150 && c.latency == 1000 && c.transfer == 1000);
    MUST(c.gap == 100 && c.receive == 250 && c.answer == 1100);
    sw_model_message(&m, 0, 1, 108, 0, &c);
    MUST(c.send == 200 && c.latency + c.transfer == 3000);
    sw_model_message(&m, 0, 1, 183, 0, &c);
    MUST(c.latency + c.transfer == 3375 && c.receive == 263);
    sw_model_message(&m, 0, 1, 408, 0, &c); /* the last rate goes on */
    MUST(c.send == 200 && c.latency + c.transfer == 4500 && c.gap == 300);
    MUST(c.receive == 250); /* but nothing becomes less */
    sw_model_message(&m, 0, 1, UINT64_MAX, 0, &c);
    MUST(c.transfer > 0 && c.transfer <= SW_PS_MOST);
    link->point_count[0] = 1; /* one point: always it */
    sw_model_message(&m, 0, 1, 1 << 20, 0, &c);
    MUST(c.send == 100 && c.latency == 1000 && !c.transfer);
    sw_model_free(&m);
}

/* A measured wire that is quicker for more bytes has no transfer below 0. */
static void test_points_that_fall(void)
{
    static const sw_link_point_t points[] = {
        {0, 10, 1000, 0, 0},
        {100, 10, 800, 0, 0},
    };
    sw_model_t m;
    sw_cost_t c;
    sw_model_init(&m, 2);
    sw_model_link_t *link = &m.links[SW_CLASS_DOMAIN];
    link->points[0] = memcpy(malloc(sizeof points), points, sizeof points);
    link->point_count[0] = 2;
    sw_model_message(&m, 0, 1, 100, 0, &c);
    MUST(c.latency == 800 && c.transfer == 0);
    sw_model_message(&m, 0, 1, 1000, 0, &c);
    MUST(c.latency == 800 && c.transfer == 0);
    sw_model_free(&m);
}

/* With a network the costs are those of its route, without contention. */
static void test_through_a_network(void)
{
    char *words[] = {"torus", "size", "4", "latency", "10", "G", "2"};
    char why[200];
    sw_model_t m;
    sw_cost_t c;
    sw_model_init(&m, 4);
    m.places.per_node = 1;
    m.links[SW_CLASS_NETWORK] = (sw_model_link_t){
        .o_send = 400, .L = 1000, .G = 80, .S = UINT64_MAX};
    m.network = sw_network_make(4, 7, words, why, sizeof why);
    MUST(m.network);
    sw_network_ends(m.network, 1000);
    sw_model_message(&m, 0, 2, 100, 0, &c); /* host, 2 hops, host */
    MUST(c.latency == 1000 + 4 * 10000 && c.answer == c.latency + 400);
    MUST(c.transfer == 200000 && c.gap == 200000 && c.network);
    MUST(sw_network_cross(m.network, 0, 2, 100, 5) ==
         5 + c.latency + c.transfer);
    sw_model_message(&m, 0, 3, 0, 0, &c);
    MUST(c.latency == 1000 + 3 * 10000 && !c.transfer);
    sw_model_free(&m);
}

int main(void)
{
    test_a_new_model_is_free();
    test_places();
    test_constants();
    test_points();
    test_points_that_fall();
    test_through_a_network();
    return 0;
}
