/*
 * The parts of a recorder against plain models of them: records, requests
 * under way, regions, the sampler's estimate, JSON and its checksum.
 */
#include "must.h"

#include "profile/base/blob.h"
#include "profile/record/clock.h"
#include "profile/capture/columns.h"
#include "profile/record/pending.h"
#include "profile/record/recorder.h"
#include "profile/record/region.h"
#include "node/base/crc.h"
#include "node/base/settings.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t random_below(uint64_t n)
{
    return random_from(&state) % n;
}

/* Requests: the table's numbers fall together, so that chains form and close
 * up again. */
static void requests(void)
{
    enum { MOST = 3000 };
    static struct {
        bool there, persistent, active;
        uint64_t stamp;
    } model[MOST];
    uint32_t live = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t k = random_below(MOST), request = (k + 1) << 20;
        sw_pending_t p;
        switch (random_below(5)) {
        case 0:
        case 1:
            p = (sw_pending_t){.request = request,
                               .stamp = (uint64_t)i,
                               .persistent = random_below(3) == 0};
            MUST(sw_pending_add(&p));
            live += !model[k].there;
            model[k].there = true;
            model[k].persistent = p.persistent;
            model[k].active = false;
            model[k].stamp = p.stamp;
            break;
        case 2:
            if (model[k].there && model[k].persistent) {
                sw_pending_start(&(sw_pending_t){.request = request,
                                                 .persistent = true,
                                                 .stamp = (uint64_t)i});
                model[k].active = true;
                model[k].stamp = (uint64_t)i;
            }
            break;
        case 3:
            sw_pending_drop(request);
            live -= model[k].there;
            model[k].there = false;
            break;
        default: {
            bool ends = model[k].there &&
                        (!model[k].persistent || model[k].active);
            MUST(sw_pending_end(request, &p) == ends);
            MUST(!ends || p.stamp == model[k].stamp);
            if (ends && !model[k].persistent) {
                model[k].there = false;
                live--;
            }
            model[k].active = false;
        }
        }
        MUST(sw_pending_count == live);
        k = random_below(MOST);
        MUST(sw_pending_look((k + 1) << 20, &p) == model[k].there);
        MUST(!model[k].there || p.stamp == model[k].stamp);
    }
}

/* Threads share one handle, as of sends that are over before they begin. Each
 * use of it is over once: in its thread's wait, or when a thread is given the
 * handle again. */
enum { THREADS = 4, USES = 20000 };
static _Atomic uint8_t over[THREADS * USES + 1];

static void *use_shared(void *from)
{
    sw_pending_t p;
    for (uint32_t i = 0; i < USES; i++) {
        uint32_t name = (uint32_t)(uintptr_t)from + i;
        p = (sw_pending_t){.request = 1 << 20, .name = name};
        uint32_t former = sw_pending_replace(&p);
        MUST(!former || over[former]++ == 0);
        if (sw_pending_take(1 << 20, &p))
            MUST(over[p.name]++ == 0);
    }
    return NULL;
}

static void shared_handle(void)
{
    pthread_t thread[THREADS];
    sw_pending_shared = true;
    for (uintptr_t i = 0; i < THREADS; i++)
        MUST(!pthread_create(&thread[i], NULL, use_shared,
                             (void *)(i * USES + 1)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    sw_pending_shared = false;
    for (int i = 1; i <= THREADS * USES; i++)
        MUST(over[i] == 1);
}

/* Set one by one, in any order and again, members make the key that an
 * initialiser makes. */
static void keys(void)
{
    sw_key_t key = {.site = 0x12345678, .procedure = 0xabcd, .region = 0x789a};
    sw_key_t same = {.site = 0x12345678,
                     .procedure = 0xabcd,
                     .communicator = 0xfedc,
                     .region = 0x789a,
                     .datatype = 0x1357,
                     .operation = 0x2468,
                     .bin = 0x9f,
                     .root = 0x89abcdef};
    SW_KEY_SET(&key, datatype, 0xffff);
    SW_KEY_SET(&key, root, 1);
    SW_KEY_SET(&key, bin, same.bin);
    SW_KEY_SET(&key, operation, same.operation);
    SW_KEY_SET(&key, datatype, same.datatype);
    SW_KEY_SET(&key, communicator, same.communicator);
    MUST(!sw_key_same(&key, &same));
    SW_KEY_SET(&key, root, same.root);
    MUST(sw_key_same(&key, &same));
    MUST(key.datatype == 0x1357 && key.root == 0x89abcdef && !key.side);
}

static void records(void)
{
    enum { KEYS = 5000 };
    static uint64_t calls[KEYS], time[KEYS], shortest[KEYS], longest[KEYS];
    sw_recorder_t *r = sw_recorder_make();
    MUST(r && r == sw_recorder_first());
    sw_settings.profile_records = KEYS;
    for (int i = 0; i < 400000; i++) {
        uint64_t k = random_below(KEYS) * random_below(KEYS) / KEYS;
        uint64_t ns = random_below((uint64_t)1 << random_below(30)) + 1;
        sw_key_t key = {
            .site = (uint32_t)k % 71, .procedure = 5, .root = (uint32_t)k / 71};
        sw_amount_t amount = {.time = ns, .sent = k, .size = k};
        sw_recorder_add(r, &key, &amount);
        calls[k]++;
        time[k] += ns;
        shortest[k] = calls[k] == 1 || ns < shortest[k] ? ns : shortest[k];
        longest[k] = ns > longest[k] ? ns : longest[k];
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < r->records.size; i++) {
        const sw_record_t *one = r->records.at[i];
        if (!one)
            continue;
        uint64_t k = one->key.site + 71 * one->key.root, sum = 0;
        MUST(one->calls == calls[k] && one->time == time[k]);
        MUST(one->shortest == shortest[k] && one->longest == longest[k]);
        MUST(one->sent == k * calls[k] && one->largest == k);
        for (int b = 0; b < SW_RECORD_BUCKETS; b++)
            sum += one->times[b];
        MUST(sum == calls[k]);
        found++;
    }
    for (int k = 0; k < KEYS; k++)
        found -= calls[k] != 0;
    MUST(found == 0);
    /* Beyond the bound calls are folded, and none is lost. */
    sw_settings.profile_records = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        sw_key_t key = {.site = 1000 + i, .procedure = (uint16_t)(i % 3)};
        sw_amount_t amount = {.time = 1};
        sw_recorder_add(r, &key, &amount);
    }
    MUST(sw_recorder_folded == 1000);
    uint64_t folded = 0;
    for (uint32_t i = 0; i < r->records.size; i++) {
        const sw_record_t *one = r->records.at[i];
        if (one && one->key.site == 0 && one->key.procedure < 3)
            folded += one->calls;
    }
    MUST(folded == 1000);
}

static void buckets(void)
{
    MUST(sw_record_bucket(0) == 0 && sw_record_bucket(1) == 0 &&
         sw_record_bucket(2) == 1);
    MUST(sw_record_bucket(1023) == 9 && sw_record_bucket(1024) == 10);
    MUST(sw_record_bucket(UINT64_MAX) == SW_RECORD_BUCKETS - 1);
    MUST(sw_record_bin(0) == 0 && sw_record_bin(1) == 1 &&
         sw_record_bin(2) == 2 && sw_record_bin(3) == 2);
    MUST(sw_record_bin(4) == 3 && sw_record_bin(UINT64_MAX) == 64);
}

/* What is estimated from the looked-at calls is what was waited in all. */
static void estimate(uint64_t partners)
{
    sw_sampler_t s;
    double time = 0, waited = 0, estimate = 0, looked = 0, probed = 0;
    sw_sampler_start(&s, 3);
    for (int i = 0; i < 1000000; i++) {
        uint64_t ns = 200 + random_below(3000);
        if (random_below(1000) == 0)
            ns *= 300;
        double share = ns > 2000 ? 0.8 : 0.1;
        uint64_t stands_for = sw_sampler_stands_for(&s, ns, partners);
        time += (double)ns;
        waited += share * (double)ns;
        if (stands_for) {
            looked += (double)(SW_LOOK_NS * partners);
            probed += (double)stands_for;
            estimate += share * (double)stands_for;
        }
    }
    MUST(fabs(estimate / waited - 1) < 0.05);
    MUST(fabs(probed / time - 1) < 0.05);
    MUST(looked < 0.0105 * time);
}

static void regions(void)
{
    uint32_t before = sw_region_count();
    sw_region_begin("a");
    uint32_t a = sw_region_now;
    sw_region_begin("b");
    uint32_t ab = sw_region_now;
    MUST(a == before && ab == a + 1);
    MUST(!strcmp(sw_region(ab)->name, "a/b"));
    MUST(!sw_region_end("a"));
    MUST(sw_region_end("b") && sw_region_now == a);
    sw_region_begin("b");
    MUST(sw_region_now == ab && sw_region(ab)->entered == 2);
    MUST(sw_region_end(NULL) && sw_region_end("a") && sw_region_now == 0);
    MUST(!sw_region_end("a") && !sw_region_end(NULL));
    /* Too long: belongs to the outer one, and ends all the same. */
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    sw_region_begin("a");
    sw_region_begin(name);
    MUST(sw_region_now == a);
    sw_region_begin("c");
    MUST(sw_region_now == a);
    MUST(sw_region_end("c") && sw_region_end(name) && sw_region_now == a);
    MUST(sw_region_end("a") && sw_region_now == 0);
    /* Too many. */
    for (int i = 0; i < 2 * SW_REGIONS_MAX; i++) {
        snprintf(name, sizeof name, "region %d", i);
        sw_region_begin(name);
        MUST(sw_region_end(name) && sw_region_now == 0);
    }
    MUST(sw_region_count() == SW_REGIONS_MAX);
}

static void text(void)
{
    sw_blob_t b = {0};
    MUST(sw_crc32(0, "123456789", 9) == 0xcbf43926u);
    MUST(sw_crc32(sw_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
    sw_blob_named(&b, "n", UINT64_MAX);
    sw_blob_named_string(&b, "s",
                         "a\"\\\n\x01 \xc3\xa9 \xe9 \xf0\x9f\x98\x80"
                         " \xed\xa0\x80 \xc0\xaf");
    sw_blob_hex(&b, 0xabcdef);
    sw_blob_text(&b, ", ");
    sw_blob_close(&b, "}");
    static const char wanted[] =
        "\"n\": 18446744073709551615, \"s\": \"a\\\"\\\\\\u000a\\u0001 "
        "\xc3\xa9 \\u00e9 \xf0\x9f\x98\x80 \\u00ed\\u00a0\\u0080 "
        "\\u00c0\\u00af\", abcdef}";
    MUST(b.size == sizeof wanted - 1 && !memcmp(b.at, wanted, b.size));
    sw_blob_free(&b);
    for (int i = 0; i < 300000; i++)
        sw_blob_put(&b, &i, sizeof i);
    MUST(b.size == 300000 * sizeof(int));
    for (int i = 0; i < 300000; i++)
        MUST(!memcmp(b.at + (size_t)i * sizeof i, &i, sizeof i));
    sw_blob_free(&b);
}

static void columns(void)
{
    static const char *const names[] = {"zero", "byte", "word", "long", NULL};
    static const char wanted[] =
        "{\"name\": \"t\", \"rows\": 2, \"columns\": [[\"zero\", 0], "
        "[\"byte\", 1], [\"word\", 2], [\"long\", 8]]}, ";
    static const unsigned char bytes[] = {255, 1, 0, 1, 2, 0, 0, 0, 0, 0, 1,
                                          0,   0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    sw_blob_t said = {0}, put = {0};
    sw_columns_t t = sw_columns_begin(&said, &put, names);
    sw_columns_row(&t, (const uint64_t[]){0, 255, 256, (uint64_t)1 << 32});
    sw_columns_row(&t, (const uint64_t[]){0, 1, 2, 3});
    sw_columns_end(&t, "t");
    MUST(said.size == sizeof wanted - 1 && !memcmp(said.at, wanted, said.size));
    MUST(put.size == sizeof bytes && !memcmp(put.at, bytes, put.size));
    sw_blob_free(&said);
    sw_blob_free(&put);
}

static void clocks(void)
{
    sw_clock_start();
    uint64_t ticks = sw_clock_ticks(), ns = sw_os_now();
    while (sw_os_now() - ns < 20000000)
        ;
    uint64_t spent = sw_clock_ns(sw_clock_ticks() - ticks);
    MUST(spent > 19000000);
    int64_t off = (int64_t)(sw_clock_time(ticks) - ns);
    MUST(off > -10000000 && off < 10000000);
}

/* Stretches of any length, by counters of any pace: 25 MHz to 4 GHz. */
static void paces(void)
{
    uint64_t scale = sw_clock_scale;
    for (unsigned ns = 1; ns <= 160; ns++) {
        sw_clock_scale = (uint64_t)ns << 30; /* ns quarters of one */
        for (unsigned bit = 2; bit < 56; bit++) {
            uint64_t ticks = (uint64_t)1 << bit;
            MUST(sw_clock_ns(ticks) == ticks / 4 * ns);
            MUST(sw_clock_ns(ticks - 1) == (ticks - 1) * ns / 4);
        }
    }
    sw_clock_scale = scale;
}

int main(void)
{
    sw_settings_load();
    clocks();
    paces();
    requests();
    shared_handle();
    keys();
    records();
    buckets();
    estimate(1);
    estimate(7);
    regions();
    text();
    columns();
    return 0;
}
