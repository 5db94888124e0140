/*
 * Messages on offer in a device's memory, between two processes: one launch
 * moves a message from layout to layout; ordinary memory gets it, too; less
 * room takes less. A receiver without a driver, or a slot whose words are
 * wrong, leaves the message unread, and nothing is written. A sender that waits
 * in vain gathers it aside.
 */
#include "device/carried.h"

#include <sys/socket.h>

#include "layout/build.h"
#include "p2p/by_device.h"

#define COUNT 700
#define RUN 24
#define EXTENT 40
#define BYTES ((size_t)COUNT * RUN)
#define ROOM ((size_t)COUNT * EXTENT)

enum {
    PLAIN,      /* to a device, without gaps */
    GAPS,       /* to gaps in a device */
    MEMORY,     /* to gaps in ordinary memory */
    SHORT,      /* to less room, which ends within an element */
    HELPER,     /* by a thread that may not drive */
    TOO_LONG,   /* the place is too near to the memory's end */
    NO_LAYOUT,  /* and a layout that is none */
    FROM_ARENA, /* the sender's is ordinary memory */
    ASIDE,      /* nobody comes in time */
    CASES
};

static int line; /* the socket to the other process */

static void tell(const void *what, size_t bytes)
{
    MUST(write(line, what, bytes) == (ssize_t)bytes);
}

static void hear(void *what, size_t bytes)
{
    MUST(recv(line, what, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

static void begin(void)
{
    alarm(100);
    sw_settings_load();
    sw_settings.gpu = true;
    sw_settings.gpu_kernels = kernels;
    sw_arena_start();
    sw_device_start();
    carried_open();
    MUST(sw_arena.fd >= 0 && sw_slots_open());
}

static sw_layout_t *gaps(void)
{
    sw_build_t *b = sw_build_new();
    sw_layout_t *l = sw_build_end(b, sw_build_run(b, RUN), EXTENT);
    MUST(l && l->size == RUN);
    return sw_layout_share(l);
}

/* Byte k of the data, and the rest. */
static char data_at(int which, size_t k)
{
    return (char)(which * 31 + (int)(k * 7));
}
#define REST ((char)0x77)

/* Sending ------------------------------------------------------------------ */

static void gather(const void *message, char *to)
{
    const sw_data_t *from = message;
    MUST(sw_carry_pack(from->layout, from->at, COUNT, 0, BYTES, to));
}

static void offer_one(int which, char *at, sw_layout_t *layout)
{
    sw_data_t data = {at, layout, COUNT};
    sw_offer_t offer = {.dest = 1,
                        .data = at,
                        .bytes = BYTES,
                        .layout = layout,
                        .count = COUNT};
    sw_ipc_t place;
    int64_t low;
    if (which == FROM_ARENA) {
        sw_offer_bind(&offer);
    } else {
        MUST(sw_data_show_form(&data, BYTES, &offer.shown, &low) && low == 0);
        MUST(sw_ipc_export(at, offer.shown.span, &place));
        if (which == TOO_LONG)
            place.offset = place.bytes - RUN;
        offer.shown.at = offer.shown.span;
        offer.shown.serial += which == NO_LAYOUT ? 1000 : 0;
        offer.shown.span = SW_SHOWN_DEVICE;
        offer.device = &place;
    }
    sw_slot_t *slot = sw_slot_offer(&offer);
    MUST(slot && (which == FROM_ARENA || !slot->aside));
    sw_slot_fill(slot, &offer);
    uint64_t told = slot->offset, word = 0;
    sw_peer_t nobody = {.card.pid = getpid()};
    if (which == ASIDE)
        while (!sw_slot_released(slot))
            sw_slot_nudge_by(slot, &nobody, gather, &data);
    tell(&told, sizeof told);
    hear(&word, sizeof word);
    MUST(sw_slot_is(slot, SW_SLOT_TAKEN));
    MUST(sw_slot_is_unread(slot) == (which >= HELPER && which <= NO_LAYOUT));
    sw_slot_leave(slot);
    MUST(sw_slots_quiet(NULL));
}

static void sends(void)
{
    sw_card_t card;
    begin();
    MUST(sw_peer_card(&card));
    tell(&card, sizeof card);
    sw_layout_t *layout = gaps();
    char *device = device_memory(ROOM), *arena = sw_arena_alloc(ROOM, 64);
    for (int which = 0; which < CASES; which++) {
        char *at = which == FROM_ARENA ? arena : device;
        char *own = which == FROM_ARENA ? arena : seen(device);
        for (size_t k = 0; k < BYTES; k++)
            own[k / RUN * EXTENT + k % RUN] = data_at(which, k);
        offer_one(which, at, layout);
    }
    MUST(standin.count("cuIpcGetMemHandle") == 1);
    MUST(standin.faults() == 0);
    sw_layout_drop(layout);
}

/* Receiving ---------------------------------------------------------------- */

/* The first n bytes are the message's, and all else is as it was. */
static void check(const char *own, const sw_layout_t *l, int which, size_t n)
{
    for (size_t i = 0; i < ROOM; i++) {
        size_t k = l ? i / EXTENT * RUN + i % EXTENT : i;
        bool data = k < n && (!l || i % EXTENT < RUN);
        MUST(own[i] == (data ? data_at(which, k) : REST));
    }
}

static void take_one(const sw_peer_t *peer, int which, char *device,
                     char *memory, const sw_layout_t *l)
{
    static char block[BYTES];
    uint64_t told;
    hear(&told, sizeof told);
    sw_slot_t *slot = (sw_slot_t *)(peer->control + told);
    const sw_layout_t *gaps = which == PLAIN || which == ASIDE ? NULL : l;
    const sw_data_t place = {device, gaps, COUNT};
    sw_target_t to = {.data = sw_data_plain(block),
                      .room = which == SHORT ? 100 * RUN + 5 : BYTES,
                      .drives = which != HELPER,
                      .device = which == HELPER ? NULL : &place};
    if (which == MEMORY) {
        to.data = (sw_data_t){memory, gaps, COUNT};
        to.device = NULL;
    }
    memset(seen(device), REST, ROOM);
    memset(memory, REST, ROOM);
    memset(block, REST, BYTES);
    uint64_t launches = standin.count("cuLaunchKernel");
    int rc = sw_slot_take(peer, slot, &to);
    bool unread = which >= HELPER && which <= NO_LAYOUT;
    MUST(rc == (unread            ? SW_SLOT_UNREAD
                : which == MEMORY ? 0
                                  : SW_SLOT_CARRIED));
    check(seen(device), gaps, which, unread || which == MEMORY ? 0 : to.room);
    check(memory, gaps, which, which == MEMORY ? BYTES : 0);
    for (size_t k = 0; k < BYTES; k++)
        MUST(block[k] == REST);
    /* Bytes go from memory to memory without a kernel. */
    uint64_t n = unread || which == ASIDE ? 0 : 1;
    MUST(standin.count("cuLaunchKernel") - launches == n);
    tell(&told, sizeof told);
}

static void takes(void)
{
    sw_card_t card;
    begin();
    hear(&card, sizeof card);
    sw_peer_t *peer = sw_peer_attach(&card);
    MUST(peer && sw_peer_control(peer));
    sw_layout_t *layout = gaps();
    char *device = device_memory(ROOM), *memory = malloc(ROOM);
    for (int which = 0; which < CASES; which++)
        take_one(peer, which, device, memory, layout);
    sw_slot_stats_t stats;
    sw_slot_stats(&stats);
    MUST(stats.carried == CASES - 3);
    MUST(standin.count("cuIpcOpenMemHandle_v2") == 1);
    MUST(standin.faults() == 0);
    sw_layout_drop(layout);
    free(memory);
}

int main(void)
{
    int end[2], status;
    pid_t child[2];
    make_kernels();
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
    for (int i = 0; i < 2; i++) {
        if ((child[i] = fork()) == 0) {
            line = end[i];
            close(end[!i]);
            i == 0 ? sends() : takes();
            _exit(0);
        }
    }
    close(end[0]);
    close(end[1]);
    for (int i = 0; i < 2; i++)
        MUST(waitpid(child[i], &status, 0) == child[i] && status == 0);
    remove_kernels();
    return 0;
}
