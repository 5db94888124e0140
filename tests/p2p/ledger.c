/*
 * Counts that ranks keep for each other: senders (threads here) count offers
 * and ring, the owner takes them by what the ledger says is due. None is lost,
 * and where all are taken nothing is due.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "node/os/os.h"
#include "node/base/settings.h"
#include "p2p/ledger.h"

#define CHECK(what) \
    ((what) ? (void)0 \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

#define PLACES 5
#define MESSAGES 20000

static sw_peer_t self;
static uint64_t ledger;
static int due_places;
static unsigned due[PLACES];

static void note(int place, unsigned channels)
{
    CHECK(place >= 0 && place < PLACES && channels);
    due[place] |= channels;
    due_places++;
}

static void reckon(void)
{
    due_places = 0;
    for (int i = 0; i < PLACES; i++)
        due[i] = 0;
    sw_ledger_due(note);
}

static void one_by_one(void)
{
    reckon();
    CHECK(!due_places && !sw_ledger_rung());
    sw_row_t row = sw_ledger_row(&self, ledger, PLACES, 3);
    sw_row_offer(&row, 7, 1);
    CHECK(sw_ledger_rung());
    reckon();
    CHECK(due_places == 1 && due[3] == 1u << 7 && !sw_ledger_rung());
    sw_row_offer(&row, 7, 1);
    sw_row_offer(&row, 14, 1);
    sw_ledger_take(3, 7);
    reckon();
    CHECK(due[3] == (1u << 7 | 1u << 14));
    sw_row_offer(&row, 7, -1);
    sw_ledger_take(3, 14);
    CHECK(sw_ledger_rung());
    reckon();
    CHECK(!due_places);
    uint32_t heard = atomic_load(&row.heard->channel[9]);
    sw_ledger_hear(3, 9);
    CHECK(atomic_load(&row.heard->channel[9]) == heard + 1);
    for (int i = 0; i < PLACES; i++)
        CHECK(i == 3 || atomic_load(&sw_ledger_row(&self, ledger, PLACES, i)
                                         .heard->channel[9]) == 0);
}

static unsigned channel_of(int place, int i)
{
    return sw_channel((uint64_t)place + 1, i % 1000);
}

static _Atomic uint32_t sent[PLACES][SW_CHANNELS];

static void *send_all(void *which)
{
    int place = *(int *)which;
    sw_row_t row = sw_ledger_row(&self, ledger, PLACES, place);
    for (int i = 0; i < MESSAGES; i++) {
        unsigned channel = channel_of(place, i);
        sw_row_offer(&row, channel, 1);
        atomic_fetch_add(&sent[place][channel], 1);
    }
    return NULL;
}

static void all_at_once(void)
{
    pthread_t thread[PLACES];
    int place[PLACES], left = PLACES * MESSAGES;
    static uint32_t taken[PLACES][SW_CHANNELS];
    for (int i = 0; i < PLACES; i++) {
        place[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, send_all, &place[i]));
    }
    while (left > 0) {
        if (!sw_ledger_rung()) {
            sw_os_yield();
            continue;
        }
        reckon();
        for (int i = 0; i < PLACES; i++)
            for (unsigned bits = due[i]; bits; bits &= bits - 1) {
                unsigned channel = (unsigned)__builtin_ctz(bits);
                for (; taken[i][channel] < atomic_load(&sent[i][channel]);
                     left--) {
                    taken[i][channel]++;
                    sw_ledger_take(i, channel);
                }
            }
        /* What was counted as offered, and not yet as sent. */
        sw_ledger_recount();
    }
    for (int i = 0; i < PLACES; i++)
        pthread_join(thread[i], NULL);
    reckon();
    CHECK(!due_places);
}

int main(void)
{
    sw_settings_load();
    ledger = sw_ledger_open(PLACES);
    CHECK(ledger);
    const sw_segment_t *segment = sw_segment();
    self = (sw_peer_t){.control = segment->base};
    self.card.control_span = segment->span;
    one_by_one();
    all_at_once();
    sw_ledger_shared = true;        /* the owner's threads */
    one_by_one();
    puts("ok");
    return 0;
}
