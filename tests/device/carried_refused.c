/*
 * Each call of the driver that the engine makes is refused in turn: the first
 * time, a later time, or from a time on. The engine then says so, or carries
 * the bytes all the same. It changes nothing but the target's bytes, and those
 * to the message's alone; the program's context stays current; no stream of
 * ours is at work when it returns; and it serves again once the driver does.
 */
#include "carried.h"

#include "device/cuda.h"
#include "layout/build.h"
#include "sanitized.h"

#define RUNS 5000
#define RUN 48
#define STRIDE 112

static sw_layout_t *irregular(int n)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t *place = malloc((size_t)n * sizeof *place);
    MUST(b && place);
    for (int i = 0; i < n; i++)
        place[i] = sw_place_moved(sw_build_run(b, RUN),
                                  i * STRIDE + i % 3 * 16);
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, n, place), n * STRIDE);
    MUST(l);
    free(place);
    return sw_layout_share(l);
}

typedef struct {
    sw_layout_t *l;
    int64_t count;
    char *user, *data, *host; /* the first two are the device's */
    size_t span, bytes;
} message_t;

static message_t message(int runs, int64_t count)
{
    message_t m = {.l = irregular(runs), .count = count};
    m.bytes = m.l->size * (size_t)count;
    m.span = (size_t)(m.l->extent * count);
    m.user = device_memory(m.span);
    m.data = device_memory(m.bytes);
    m.host = malloc(m.bytes);
    MUST(m.host);
    return m;
}

static void fill(char *at, size_t bytes, uint64_t *state)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = random_from(state);
        memcpy(at + i, &word, sw_min(8, bytes - i));
    }
}

/* Are bytes the old ones or the new ones? */
static bool old_or_new(const char *now, const char *old, const char *new,
                       size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (now[i] != old[i] && now[i] != new[i])
            return false;
    return true;
}

/* Carry once in each direction; how many were carried. */
static int carry(const message_t *m, uint64_t *state)
{
    char *old = malloc(m->span), *new = malloc(m->span), *data = seen(m->data);
    int carried = 0;
    MUST(old && new);
    for (int way = 0; way < 3; way++) {
        fill(seen(m->user), m->span, state);
        fill(way == 2 ? data : m->host, m->bytes, state);
        if (way == 1) { /* into the gaps' midst */
            memcpy(old, seen(m->user), m->span);
            memcpy(new, old, m->span);
            sw_layout_unpack(m->l, new, m->count, 0, m->bytes, m->host);
            bool done = sw_carry_unpack(m->l, m->user, m->count, 0, m->bytes,
                                        m->host);
            carried += done;
            MUST(old_or_new(seen(m->user), done ? new : old, new, m->span));
            continue;
        }
        char *to = way ? data : m->host;
        memcpy(old, to, m->bytes);
        sw_layout_pack(m->l, seen(m->user), m->count, 0, m->bytes, new);
        bool done = sw_carry_pack(m->l, m->user, m->count, 0, m->bytes,
                                  way ? m->data : m->host);
        carried += done;
        MUST(old_or_new(to, done ? new : old, new, m->bytes));
    }
    free(old);
    free(new);
    return carried;
}

static int most;     /* messages that are refused at most; the rest must go */
static bool current; /* the program's context is current */

static void messages(void)
{
    uint64_t state = 99;
    message_t small = message(50, 2), large = message(RUNS, 9);
    MUST(large.bytes > 2 << 20);
    handle_t own = NULL, now;
    /* These may be refused, too. */
    if (current &&
        (cuda.cuDevicePrimaryCtxRetain(&own, 0) || cuda.cuCtxSetCurrent(own)))
        own = NULL;
    int carried = 0;
    carried += carry(&small, &state);
    carried += carry(&large, &state);
    carried += carry(&small, &state);
    if (cuda.cuCtxGetCurrent(&now) == 0)
        MUST(now == own);
    if (9 - carried > most)
        fprintf(stderr, "%d of 9 messages were refused\n", 9 - carried);
    MUST(9 - carried <= most);
    sw_layout_drop(small.l);
    sw_layout_drop(large.l);
}

/* A deep run takes all of the many; others take one in some, with no factor in
 * common with the six runs of a call. */
static void one(const char *call, const char *how, bool late)
{
    static int runs;
    char refuse[100];
    snprintf(refuse, sizeof refuse, "%s:%s", call, how);
    int some = getenv("STRAIGHTWAY_DEEP") ? 1
               : THREAD_SANITIZED         ? 29
               : ADDRESS_SANITIZED        ? 11
                                          : 5;
    if (runs++ % some == 0)
        alone(messages, call, refuse, late ? "100" : "0");
}

int main(void)
{
#define NAME(name, arguments) #name,
    static const char *const call[] = {SW_CUDA_CALLS(NAME)};
    static const char *const once[] = {"=1", "=2:400", "=3:201"};
    static const char *const for_good[] = {"1", "4", "13"};
    make_kernels();
    alone(messages, "nothing", "", "0");
    for (size_t i = 0; i < sizeof call / sizeof *call; i++)
        for (int h = 0; h < 3; h++) {
            current = (i + (size_t)h) % 2;
            /* One message goes another way, or a few. */
            most = 4;
            one(call[i], once[h], false);
            most = 9;
            one(call[i], for_good[h], h == 1);
        }
    remove_kernels();
    return 0;
}
