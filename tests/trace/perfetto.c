/*
 * Writing for Perfetto: messages within messages of every length, times to the
 * nearest ns, and events and names of any kind without harm. What is written
 * is checked by tests/capture/test_trace.py.
 */
#include "made.h"

#include "trace/perfetto.h"

#include <fcntl.h>

/* A message of `n` bytes within one within one. */
static void nested(size_t n)
{
    static unsigned char bytes[20000];
    sw_proto_t p = {.fd = -1};
    size_t outer = sw_proto_open(&p, 1), inner = sw_proto_open(&p, 2);
    sw_proto_raw(&p, bytes, n);
    sw_proto_close(&p, inner);
    sw_proto_close(&p, outer);
    sw_cursor_t c = {.at = p.at, .end = p.at + p.size};
    MUST(sw_varint(&c) == (1 << 3 | 2));
    uint64_t length = sw_varint(&c);
    MUST(length == (size_t)(c.end - c.at));
    MUST(sw_varint(&c) == (2 << 3 | 2));
    MUST(sw_varint(&c) == n && (size_t)(c.end - c.at) == n && !c.bad);
    sw_proto_free(&p);
}

static void times(void)
{
    sw_rank_name_t r = {.start = 1000, .ticks = 3, .ns = 2, .offset = 50};
    MUST(sw_names_time(&r, 1000) == 50);
    MUST(sw_names_time(&r, 1001) == 51); /* 0.67 */
    MUST(sw_names_time(&r, 1002) == 51); /* 1.33 */
    MUST(sw_names_time(&r, 1003) == 52);
    MUST(sw_names_time(&r, 997) == 48);
    MUST(sw_names_time(&r, 0) == 0);
    r.ticks = 0;
    MUST(sw_names_time(&r, 1007) == 57);
    /* A year of ticks of 5 GHz, and a ns more. */
    uint64_t year = (uint64_t)31536000 * 1000000000;
    r = (sw_rank_name_t){.start = 0, .ticks = 5 * year, .ns = year};
    MUST(sw_names_time(&r, 5 * year - 5) == year - 1);
}

static const char good[] =
    "string\tMPI_Send\nstring\tsend\nstring\tsite\nstring\tmain (a.c:1)\n"
    "rank\t3\t0\t5\t1000\t500\t7\trank 3\tnode\ncommunicator\tab\n"
    "communicator\tff\nthread\t0\tthread 0\n"
    "call\t1\t1\t2\t3:4\t3=17\ncall\t9\t1\t2\nthread\t4\tx\n"
    "call\t2\t1\t2\t3:4\nrank\t4\t0\t5\t10\t10\t0\trank 4\tnode\n";

static bool read_names(sw_names_t *n, const char *text, size_t size)
{
    FILE *from = fmemopen((void *)(uintptr_t)text, size, "r");
    MUST(from);
    bool rc = sw_names_read(n, from);
    fclose(from);
    return rc;
}

static void names(void)
{
    sw_names_t n;
    MUST(read_names(&n, good, sizeof good - 1));
    MUST(n.rank_count == 2 && !sw_names_rank(&n, 5) && !sw_names_rank(&n, 0));
    sw_rank_name_t *r = sw_names_rank(&n, 3);
    MUST(r && r->start == 5 && r->ticks == 1000 && r->ns == 500);
    MUST(r->offset == 7 && !strcmp(r->label, "node"));
    sw_call_name_t *c = sw_names_call(sw_names_thread(r, 0), 1);
    MUST(c && !strcmp(c->details, "3:4\t3=17"));
    MUST(sw_names_communicator(r, 1) == 0xab);
    MUST(sw_names_communicator(r, 2) == 0xff);
    MUST(!sw_names_communicator(r, 0) && !sw_names_communicator(r, 3));
    MUST(!strcmp(n.strings[c->name], "MPI_Send"));
    MUST(!sw_names_call(sw_names_thread(r, 0), 0));
    MUST(!sw_names_call(sw_names_thread(r, 0), 2));
    MUST(!sw_names_call(sw_names_thread(r, 0), UINT64_MAX));
    MUST(sw_names_call(sw_names_thread(r, 4), 2));
    MUST(sw_names_thread(r, 77) && r->thread_count == 3);
    sw_names_free(&n);
}

static void put_any_event(made_t *m)
{
    put_varint(m, random_below(12) << 2 | 2 | random_below(2));
    put_varint(m, random_number() >> 30);
    put_varint(m, random_number() >> 30);
    for (uint64_t n = random_below(12); n; n--) {
        uint64_t kind = 1 + random_below(11), fields = random_below(6);
        put_varint(m, kind << 3 | fields);
        while (fields--)
            put_varint(m, random_below(2) ? random_below(4) : random_number());
    }
    put_varint(m, 0);
}

/* Names that are damaged are refused or taken; either way the events go their
 * way. */
static void anything_goes(void)
{
    int null = open("/dev/null", O_WRONLY);
    for (int round = 0; round < 5000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (uint64_t i = round ? random_below(8) : 0; i; i--)
            text[random_below(sizeof good - 1)] =
                "0123456789abcdef\t\n:=-"[random_below(21)];
        sw_names_t n;
        if (!read_names(&n, text, sizeof good - 1)) {
            sw_names_free(&n);
            continue;
        }
        made_t file = {0};
        put_file(&file);
        for (int b = 0; b < 5; b++) {
            made_t events = {0};
            uint32_t count = (uint32_t)random_below(30);
            for (uint32_t e = 0; e < count; e++)
                put_any_event(&events);
            put_trace(&file, 3 + (uint32_t)random_below(3),
                      (uint32_t)random_below(6), random_number() >> 1, count,
                      &events);
            free(events.at);
        }
        sw_trace_reader_t r;
        sw_perfetto_t p;
        sw_perfetto_begin(&p, &n, null);
        MUST(!made_open(&r, &file));
        MUST(sw_perfetto_add(&p, &r) && sw_perfetto_end(&p));
        MUST(!p.events || p.out.written);
        sw_perfetto_free(&p);
        sw_trace_close(&r);
        sw_names_free(&n);
        free(file.at);
    }
    close(null);
}

int main(void)
{
    for (size_t n = 0; n < 300; n++)
        nested(n);
    for (size_t n = 16370; n < 16390; n++)
        nested(n);
    times();
    names();
    anything_goes();
    return 0;
}
