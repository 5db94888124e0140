/*
 * Messages of random lengths go through a pipe in order and whole, whatever the
 * ring's size, and however long the receiver stays away: the sender goes on in
 * chunks, comes back to the ring, and its chunks are given back. A stream whose
 * sender asks before each message takes no chunk. Two threads of one process
 * are the parties, so that the thread sanitizer sees both.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "match/pipe.h"
#include "must.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "sanitized.h"

#define MESSAGES (SANITIZED ? 15000 : 60000)
#define CELLS_MOST 1024

static _Alignas(
    SW_PAIR) char memory[sizeof(sw_pipe_lines_t) + CELLS_MOST * SW_LINE];
static uint32_t cells;
/* the receiver goes away at times; else the sender waits for it at times */
static bool absent;
static bool calm; /* the sender asks before each message */
static _Atomic uint64_t received;
static _Atomic uint64_t chained;

/* Each word is the worst that data can be where a turn would lie: the turn of
 * this lap or of a later one. */
static void fill(char *payload, size_t n, uint32_t word)
{
    for (size_t at = 0; at + sizeof word <= n; at += sizeof word)
        memcpy(payload + at, &word, sizeof word);
}

static bool filled(const char *payload, size_t n)
{
    for (size_t at = sizeof(uint32_t); at + sizeof(uint32_t) <= n;
         at += sizeof(uint32_t))
        if (memcmp(payload, payload + at, sizeof(uint32_t)))
            return false;
    return true;
}

static size_t length(uint64_t *state)
{
    uint64_t x = random_from(state);
    return x % 3 ? x / 3 % 100 : x / 3 % (sw_pipe_most(cells) + 1);
}

static void *send_all(void *ignored)
{
    sw_pipe_out_t out;
    uint64_t state = cells;
    MUST(sw_pipe_open_out(&out, memory, cells));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        size_t n = length(&state);
        sw_cell_t *cell;
        bool away = out.chained;
        while (calm && !sw_pipe_is_calm(&out))
            sw_os_yield();
        while (!(cell = sw_pipe_reserve(&out, n)))
            sw_os_yield();
        /* Back in the ring, where the receiver looks before the message. */
        while (away && !out.chained && received < i)
            sw_os_yield();
        cell->size = (uint32_t)n * SW_CELL_KINDS + SW_CELL_DATA;
        cell->context = i;
        cell->source = (int32_t)n;
        cell->tag = (int32_t)(i % 1000);
        fill(cell->payload, n,
             sw_pipe_turn(out.next, cells) + (uint32_t)(i % 3));
        if (out.chained)
            chained++;
        sw_pipe_publish(&out, cell);
        if (!absent && !calm && i % 8 == 0)
            while (received <= i)
                sw_os_yield();
    }
    while (sw_pipe_reap(&out), sw_pipe_chunks())
        sw_os_yield();
    free(out.data);
    return NULL;
}

static void receive_all(void)
{
    sw_pipe_in_t in;
    uint64_t state = cells, pace = 7;
    /* In this process chunks lie at their own addresses. */
    sw_pipe_open_in(&in, memory, cells,
                    sw_arena.range[0].start - sw_arena.range[0].offset);
    for (uint64_t i = 0; i < MESSAGES; i++) {
        size_t n = length(&state);
        const sw_cell_t *cell;
        if (absent && random_from(&pace) % 20000 == 0)
            usleep(20000);
        while (!(cell = sw_pipe_peek(&in)))
            sw_os_yield();
        MUST(cell == sw_pipe_peek(&in));
        MUST(sw_cell_kind(cell) == SW_CELL_DATA && sw_cell_bytes(cell) == n);
        MUST(cell->context == i && cell->source == (int32_t)n);
        MUST(cell->tag == (int32_t)(i % 1000));
        MUST(filled(cell->payload, n));
        sw_pipe_pop(&in);
        received++;
    }
    MUST(!sw_pipe_peek(&in));
    /* The sender leads back to the ring at its next message only. */
    if (in.chunk)
        atomic_store(&in.chunk->done, 1);
}

int main(void)
{
    sw_arena_start();
    for (int trial = 0; trial < 9; trial++) {
        pthread_t sender;
        cells = (uint32_t[]){16, 64, CELLS_MOST}[trial % 3];
        absent = trial >= 3;
        calm = trial >= 6;
        chained = received = 0;
        memset(memory, 0, sizeof memory);
        MUST(!pthread_create(&sender, NULL, send_all, NULL));
        receive_all();
        MUST(!pthread_join(sender, NULL));
        MUST(calm ? !chained : !absent || chained > 0);
    }
    return 0;
}
