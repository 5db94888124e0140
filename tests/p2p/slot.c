/*
 * Messages on offer: a sender and a receiver, two threads of one process (so
 * that the thread sanitizer sees both), pass random messages. The sender
 * spoils its buffer as soon as the slot says that it may; late receivers make
 * it copy aside; large messages are copied by both. And what a descriptor is
 * taken for, and what not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node/arena.h"
#include "node/settings.h"
#include "p2p/slot.h"

#define CHECK(what) \
    ((what) ? (void)0 \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

#define ME 3
#define LINEAGE 77
#define LARGEST 100000
#define MESSAGES 3000

static sw_token_t cookie = {{0x1234567890abcdef, 0xfedcba0987654321}};
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

static sw_descriptor_t describe(const sw_slot_t *slot)
{
    sw_descriptor_t d;
    sw_descriptor_fill(&d, &cookie, 0, slot->offset, sw_slot_ticket(slot),
                       slot->bytes);
    return d;
}

static int take(sw_slot_t *slot, void *to, size_t room)
{
    sw_target_t target = {.at = to, .room = room};
    return sw_slot_take(&peer, slot, &target);
}

/* Size of message i: short ones, too. */
static size_t size_of(uint64_t i)
{
    uint64_t state = i;
    size_t n = next(&state) % 5 ? next(&state) % LARGEST
                                : next(&state) % SW_DESCRIPTOR_BYTES;
    return n + 1;
}

static long invited;            /* times that the sender saw it could help  */
static bool patient;

static void *send_all(void *ignored)
{
    char *shared = sw_arena_alloc(LARGEST + 1, 64);
    char *private = malloc(LARGEST + 1);
    uint64_t state = 1;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        char *data = next(&state) % 4 ? shared : private;
        size_t n = size_of(i);
        fill(data, n, i);
        sw_offer_t offer = {.lineage = LINEAGE, .dest = ME, .tag = 5,
                            .data = data, .bytes = n};
        sw_slot_t *slot = sw_slot_offer(&offer);
        CHECK(slot);
        sw_descriptor_t d = describe(slot);
        if (next(&state) % 2)
            sw_slot_fill(slot, &offer);
        CHECK(write(queue[1], &d, sizeof d) == sizeof d);
        sw_slot_fill(slot, &offer);
        while (!sw_slot_released(slot)) {
            invited += sw_slot_is(slot, SW_SLOT_JOINT);
            sw_slot_help(slot, &peer, data);
            if (!patient)
                sw_slot_nudge(slot, data);
            sw_os_yield();
        }
        memset(data, 0xee, n);
        sw_slot_leave(slot);
    }
    sw_arena_free(shared);
    free(private);
    return ignored;
}

static void receive_all(void)
{
    char *place[2] = {malloc(LARGEST + 1), sw_arena_alloc(LARGEST + 1, 64)};
    char head[SW_DESCRIPTOR_BYTES];
    uint64_t state = 2;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        sw_descriptor_t d;
        size_t n = size_of(i);
        CHECK(read(queue[0], &d, sizeof d) == sizeof d);
        CHECK(sw_descriptor_valid(&d, &cookie) && d.bytes == n);
        if (next(&state) % 50 == 0) {       /* late */
            struct timespec us = {0, 300000};
            nanosleep(&us, NULL);
        }
        CHECK(!sw_slot_of(&peer, &d, ME + 1));
        sw_slot_t *slot = sw_slot_of(&peer, &d, ME);
        CHECK(slot);
        CHECK(sw_slots_find(&peer, sw_slots_directory(), LINEAGE, ME, 5) ==
              slot);
        size_t room = next(&state) % 10 ? LARGEST + 1 : n / 2;
        char *to = place[next(&state) % 2];
        size_t whole = sw_min(n, room);
        memset(to, 0x77, LARGEST + 1);
        if (room >= sizeof head && next(&state) % 4 == 0) {
            CHECK(sw_slot_take_apart(&peer, slot, head, to, room) == 0);
            for (size_t k = 0; k < sizeof head; k++)
                CHECK(to[k] == 0x77);
            memcpy(to, head, sw_min(whole, sizeof head));
        } else {
            CHECK(take(slot, to, room) == 0);
        }
        CHECK(filled(to, whole, i));
        for (size_t k = whole; k < LARGEST + 1; k++)
            CHECK(to[k] == 0x77);
        CHECK(!sw_slot_of(&peer, &d, ME));
    }
    free(place[0]);
    sw_arena_free(place[1]);
}

static void stream(void)
{
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, NULL) == 0);
    receive_all();
    pthread_join(sender, NULL);
    CHECK(sw_slots_quiet());
}

/* Any byte of its fields changed, and it is none. */
static void only_whole_descriptors(void)
{
    char data[1000] = "something";
    sw_offer_t offer = {.lineage = LINEAGE, .dest = ME, .tag = 6,
                        .data = data, .bytes = sizeof data};
    sw_slot_t *slot = sw_slot_offer(&offer);
    sw_descriptor_t d = describe(slot), other;
    CHECK(sw_descriptor_valid(&d, &cookie));
    for (size_t i = 0; i < offsetof(sw_descriptor_t, zero); i++) {
        other = d;
        ((char *)&other)[i] ^= 1;
        CHECK(!sw_descriptor_valid(&other, &cookie));
    }
    sw_slot_withdraw(slot);
    CHECK(!sw_slot_of(&peer, &d, ME));
    /* The slot comes again, for another message: the old ticket is stale. */
    slot = sw_slot_offer(&offer);
    CHECK(slot->offset == d.slot && !sw_slot_of(&peer, &d, ME));
    sw_slot_withdraw(slot);
    /* Far outside the segment. */
    sw_descriptor_fill(&d, &cookie, 0, UINT64_MAX - 7, 0, 1000);
    CHECK(!sw_slot_of(&peer, &d, ME));
}

/* The earliest of a tag, without those that a matched probe has taken; more
 * than one block of slots. */
static void found_in_order(void)
{
    enum { MANY = 700 };
    static sw_slot_t *slot[MANY];
    char data[300] = "x";
    uint64_t directory = sw_slots_directory();
    for (int i = 0; i < MANY; i++) {
        sw_offer_t offer = {.lineage = LINEAGE, .dest = ME, .tag = i % 7,
                            .data = data, .bytes = sizeof data};
        CHECK((slot[i] = sw_slot_offer(&offer)));
        sw_slot_fill(slot[i], &offer);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(sw_slots_find(&peer, directory, LINEAGE, ME, i % 7) == slot[i]);
        CHECK(!sw_slots_find(&peer, directory, LINEAGE + 1, ME, i % 7));
        atomic_store(&slot[i]->matched, 1);
    }
    CHECK(!sw_slots_find(&peer, directory, LINEAGE, ME, 0));
    for (int i = 0; i < MANY; i++)
        sw_slot_leave(slot[i]);
    CHECK(!sw_slots_quiet());
    for (int i = 0; i < MANY; i++)
        CHECK(take(slot[i], data, sizeof data) == 0);
    CHECK(sw_slots_quiet());
}

int main(void)
{
    sw_settings_load();
    sw_settings.arena_static = false;
    sw_arena_start();
    CHECK(sw_arena.fd >= 0 && sw_slots_directory());
    const sw_segment_t *segment = sw_segment();
    peer = (sw_peer_t){.control = segment->base,
                       .arena = sw_arena.range[0].start};
    peer.card.control_span = segment->span;
    peer.card.arena_span = sw_arena.span;
    sw_wait_crowd(2);
    only_whole_descriptors();
    found_in_order();
    CHECK(pipe(queue) == 0);
    stream();
    CHECK(invited == 0);            /* not where cores are crowded */
    sw_wait_crowd(1);
    sw_settings.p2p_joint = 20000;
    sw_settings.stream_min = 30000;
    patient = true;
    stream();
    uint64_t mask[4];
    CHECK(invited > 0 || sw_os_affinity(mask, 4) == 1);
    sw_slot_stats_t stats;
    sw_slot_stats(&stats);
    CHECK(stats.offered >= MESSAGES && stats.moved_aside > 0);
    puts("ok");
    return 0;
}
