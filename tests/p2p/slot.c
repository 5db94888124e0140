/*
 * Messages on offer: a sender and a receiver, two threads of one process (so
 * that the thread sanitizer sees both), pass random messages. The sender
 * spoils its buffer as soon as the slot says that it may; late receivers make
 * it copy aside; both copy large messages; some are scattered, on either side;
 * some are read by CMA.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layout/build.h"
#include "layout/share.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "p2p/slot.h"

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

#define ME 3
#define LARGEST 100200
#define SHORT 192
#define ELEMENT 600 /* bytes of data of a scattered one */
#define ARRAY (LARGEST / ELEMENT * 1500 + 1)
#define STREAMS 50
#define MESSAGES 2000

static sw_peer_t peer;
static int queue[2];

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void fill(char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(key + i * 31);
}

static bool filled(const char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (char)(key + i * 31))
            return false;
    return true;
}

/* `n` runs, an element of ELEMENT bytes in all. */
static sw_layout_t *runs(int64_t n, int64_t stride)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t run = sw_build_run(b, (uint64_t)(ELEMENT / n));
    sw_layout_t *l = sw_build_end(b, sw_build_repeat(b, n, stride, run),
                                  n * stride);
    CHECK(l && l->size == ELEMENT);
    return sw_layout_share(l);
}

enum { FINE, COARSE, LAYOUTS };
static sw_layout_t *layout[LAYOUTS];

/* Every third message may be scattered. */
static sw_layout_t *layout_of(uint64_t i, uint64_t *state)
{
    uint64_t which = next(state) % (LAYOUTS + 1);
    return i % 3 == 0 && which < LAYOUTS ? layout[which] : NULL;
}

/* So far memory may be touched, and a little more. */
static size_t reach(size_t n, const sw_layout_t *l)
{
    return (l ? n / ELEMENT * 1500 : n) + 1;
}

static void put(char *to, size_t n, const sw_layout_t *l, const char *data)
{
    if (l)
        sw_layout_unpack(l, to, LARGEST / ELEMENT, 0, n, data);
    else
        memcpy(to, data, n);
}

static void get(const char *from, size_t n, const sw_layout_t *l, char *data)
{
    if (l)
        sw_layout_pack(l, from, LARGEST / ELEMENT, 0, n, data);
    else
        memcpy(data, from, n);
}

/* What the sender tells the receiver. */
typedef struct {
    uint64_t slot, ticket;
} told_t;

static told_t tell(const sw_slot_t *slot)
{
    return (told_t){slot->offset, sw_slot_ticket(slot)};
}

static sw_slot_t *slot_of(const told_t *told)
{
    sw_slot_t *slot = (sw_slot_t *)(peer.control + told->slot);
    CHECK(sw_slot_ticket(slot) == told->ticket);
    return slot;
}

static int take(sw_slot_t *slot, void *to, const sw_layout_t *l, size_t room)
{
    sw_target_t target = {
        .data = {.at = to, .layout = l, .count = LARGEST / ELEMENT},
        .room = room};
    return sw_slot_take(&peer, slot, &target);
}

/* Size of message i: short ones, too. */
static size_t size_of(uint64_t i)
{
    uint64_t state = i;
    size_t n = next(&state) % 5 ? next(&state) % LARGEST : next(&state) % SHORT;
    return i % 3 ? n + 1 : (n / ELEMENT + 1) * ELEMENT;
}

static long invited; /* times that the sender saw it could help */
static bool patient, cma;

static void *send_all(void *ignored)
{
    char *shared = sw_arena_alloc(ARRAY, 64);
    char *private = malloc(ARRAY), *plain = malloc(LARGEST);
    uint64_t state = 1;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        char *data = next(&state) % 4 ? shared : private;
        size_t n = size_of(i);
        sw_layout_t *l = layout_of(i, &state);
        fill(plain, n, i);
        put(data, n, l, plain);
        sw_offer_t offer = {.dest = ME,
                            .data = data,
                            .bytes = n,
                            .layout = l,
                            .count = (int64_t)(n / ELEMENT)};
        sw_offer_bind(&offer);
        offer.direct = cma && !offer.readable && !l && next(&state) % 2;
        sw_slot_t *slot = sw_slot_offer(&offer);
        CHECK(slot);
        told_t told = tell(slot);
        if (next(&state) % 2)
            sw_slot_fill(slot, &offer);
        CHECK(write(queue[1], &told, sizeof told) == sizeof told);
        sw_slot_fill(slot, &offer);
        while (!sw_slot_released(slot)) {
            invited += sw_slot_is(slot, SW_SLOT_JOINT);
            sw_slot_help(slot, &peer, data);
            if (!patient)
                sw_slot_nudge(slot, &peer, data);
            sw_os_yield();
        }
        memset(data, 0xee, reach(n, l));
        sw_slot_leave(slot);
    }
    sw_arena_free(shared);
    free(private);
    free(plain);
    return ignored;
}

static void receive_all(void)
{
    char *place[2] = {malloc(ARRAY), sw_arena_alloc(ARRAY, 64)};
    char *plain = malloc(LARGEST), *untouched = malloc(LARGEST);
    memset(untouched, 0x77, LARGEST);
    uint64_t state = 2;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        told_t told;
        size_t n = size_of(i);
        CHECK(read(queue[0], &told, sizeof told) == sizeof told);
        if (next(&state) % 50 == 0) { /* late */
            struct timespec us = {0, 300000};
            nanosleep(&us, NULL);
        }
        sw_slot_t *slot = slot_of(&told);
        CHECK(slot->bytes == n);
        size_t room = next(&state) % 10 ? LARGEST + 1 : n / 2;
        char *to = place[next(&state) % 2];
        size_t whole = sw_min(n, room);
        const sw_layout_t *l = layout_of(i, &state);
        memset(to, 0x77, reach(n, l));
        CHECK(take(slot, to, l, room) == 0);
        get(to, whole, l, plain);
        CHECK(filled(plain, whole, i));
        put(to, whole, l, untouched);
        for (size_t k = 0; k < reach(n, l); k++)
            CHECK(to[k] == 0x77);
    }
    free(place[0]);
    sw_arena_free(place[1]);
    free(plain);
    free(untouched);
}

static void stream(void)
{
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, NULL) == 0);
    receive_all();
    pthread_join(sender, NULL);
    CHECK(sw_slots_quiet(NULL));
}

/* More than one block of slots, and all come again. */
static void many(void)
{
    enum { MANY = 700 };
    static sw_slot_t *slot[MANY];
    static told_t told[MANY];
    char data[400] = "x";
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < MANY; i++) {
            sw_offer_t offer = {
                .dest = ME, .data = data, .bytes = 300 + (size_t)i % 77};
            CHECK((slot[i] = sw_slot_offer(&offer)));
            sw_slot_fill(slot[i], &offer);
            told[i] = tell(slot[i]);
        }
        for (int i = 0; i < MANY; i++)
            sw_slot_leave(slot[i]);
        CHECK(!sw_slots_quiet(NULL));
        for (int i = 0; i < MANY; i++)
            CHECK(take(slot_of(&told[i]), data, NULL, sizeof data) == 0);
        CHECK(sw_slots_quiet(NULL));
    }
}

int main(void)
{
    sw_settings_load();
    sw_settings.arena_static = false;
    sw_arena_start();
    CHECK(sw_arena.fd >= 0 && sw_slots_open());
    const sw_segment_t *segment = sw_segment();
    peer = (sw_peer_t){
        .control = segment->base,
        .arena = sw_os_map_shared(NULL, sw_arena.span, sw_arena.fd, 0)};
    peer.card.control_span = segment->span;
    peer.card.pid = getpid();
    sw_os_process_start(peer.card.pid, &peer.start);
    peer.card.arena_span = sw_arena.span;
    sw_wait_crowd(2);
    char out[1] = "y";
    cma = sw_os_cma_read(peer.card.pid, out, (uintptr_t)"x", 1) == 0 &&
          *out == 'x';
    layout[FINE] = runs(30, 50);
    layout[COARSE] = runs(2, 400);
    many();
    CHECK(pipe(queue) == 0);
    stream();
    CHECK(invited == 0); /* not where cores are crowded */
    sw_wait_crowd(1);
    sw_settings.p2p_joint = 20000;
    sw_settings.stream_min = 30000;
    patient = true;
    uint64_t mask[4];
    sw_slot_stats_t stats = {0};
    for (int i = 0; i < STREAMS && (invited == 0 || stats.joint == 0); i++) {
        stream(); /* on a busy machine they may miss each other */
        sw_slot_stats(&stats);
    }
    CHECK(invited > 0 || sw_os_affinity(mask, 4) == 1);
    CHECK(stats.offered >= MESSAGES && stats.moved_aside > 0);
    CHECK(stats.gathered > 0 && (stats.direct > 0) == cma);
    CHECK(stats.joint > 0 || sw_os_affinity(mask, 4) == 1);
    puts("ok");
    return 0;
}
