/*
 * result_json.c - see result.h.
 */
#include "result.h"
#include "section_times.h"

#include <stdlib.h>
#include <string.h>

#define STUCK 16 /* ranks told one by one */
#define TEXT 160

static void put_ns(FILE *to, sw_ps_t ps)
{
    fprintf(to, "%lld", (long long)(ps / SW_PS_PER_NS));
    if (ps % SW_PS_PER_NS)
        fprintf(to, ".%03lld", (long long)(ps % SW_PS_PER_NS));
}

/* The bytes of a character of UTF-8 behind its first; -1: it is none. */
static int more_bytes(const unsigned char *s)
{
    int n = *s < 0x80                 ? 0
            : *s >= 0xc2 && *s < 0xe0 ? 1
            : *s >= 0xe0 && *s < 0xf0 ? 2
            : *s >= 0xf0 && *s < 0xf5 ? 3
                                      : -1;
    for (int i = 1; i <= n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return -1;
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
        return -1;
    return n;
}

/* What is no UTF-8 is taken for Latin-1. */
static void put_string(FILE *to, const char *text)
{
    putc('"', to);
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        int more = more_bytes(s);
        if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s < ' ' || more < 0)
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, (size_t)more + 1, 1, to);
        s += more > 0 ? more : 0;
    }
    putc('"', to);
}

static void put_times(FILE *to, const sw_rank_time_t *time)
{
    const struct {
        const char *name;
        sw_ps_t ps;
    } parts[] = {{"end_ns", time->end},
                 {"compute_ns", time->compute},
                 {"noise_ns", time->noise},
                 {"messages_ns", time->messages},
                 {"collectives_ns", time->collectives},
                 {"waiting_ns", time->waiting}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(to, "%s\"%s\": ", i ? ", " : "{", parts[i].name);
        put_ns(to, parts[i].ps);
    }
    putc('}', to);
}

static void put_collectives(FILE *to, const sw_engine_result_t *r)
{
    const char *before = "";
    fprintf(to, ", \"collectives\": {");
    for (unsigned i = 0; i < SW_COLLECTIVE_COUNT; i++) {
        if (!r->calls[i])
            continue;
        fprintf(to, "%s\"%s\": {\"calls\": %llu, \"time_ns\": ", before,
                sw_collective_names[i], (unsigned long long)r->calls[i]);
        put_ns(to, r->time[i]);
        putc('}', to);
        before = ", ";
    }
    putc('}', to);
}

static void put_ranks(FILE *to, const sw_result_t *result,
                      const sw_engine_result_t *r)
{
    sw_rank_time_t sum = {0};
    for (uint32_t i = 0; i < result->ranks; i++)
        sw_rank_time_add(&sum, &r->ranks[i], 1);
    fprintf(to, ", \"sums\": ");
    put_times(to, &sum);
    fprintf(to, ", \"rank_times\": [");
    for (uint32_t i = 0; i < result->ranks; i++) {
        fputs(i ? ", " : "", to);
        put_times(to, &r->ranks[i]);
    }
    putc(']', to);
}

static void put_sections(FILE *to, const sw_result_t *result)
{
    static const sw_sections_t nobody;
    const sw_sections_t *names = result->sections ? result->sections : &nobody;
    uint32_t count;
    sw_section_time_t *times = sw_sections_times(result->engine, names, &count);
    const char *before = "";
    fprintf(to, ", \"sections\": [");
    for (uint32_t i = 0; i < count; i++) {
        char number[32] = "";
        const char *name = sw_sections_name(names, i);
        if (!times[i].ranks)
            continue;
        if (i)
            snprintf(number, sizeof number, "section %u", i);
        fprintf(to, "%s{\"name\": ", before);
        put_string(to, *name ? name : number);
        fprintf(to, ", \"ranks\": %u, \"sums\": ", times[i].ranks);
        put_times(to, &times[i].sum);
        fprintf(to, ", \"longest\": %u, \"most\": ", times[i].longest);
        put_times(to, &times[i].most);
        putc('}', to);
        before = ", ";
    }
    free(times);
    putc(']', to);
}

static void put_stuck(FILE *to, const sw_result_t *result)
{
    uint32_t stuck = 0;
    char text[TEXT];
    fprintf(to, ", \"stuck\": [");
    for (uint32_t i = 0; i < result->ranks; i++) {
        sw_engine_stuck(result->engine, i, text, sizeof text);
        if (!*text || stuck++ >= STUCK)
            continue;
        fprintf(to, "%s{\"rank\": %u, \"waits_for\": ", stuck > 1 ? ", " : "",
                i);
        put_string(to, text);
        putc('}', to);
    }
    fprintf(to, "], \"stuck_ranks\": %u", stuck);
}

void sw_result_json(FILE *to, const sw_result_t *result)
{
    static const char *const states[] = {[SW_ENGINE_DONE] = "done",
                                         [SW_ENGINE_WAITS] = "waits",
                                         [SW_ENGINE_DEADLOCK] = "deadlock",
                                         [SW_ENGINE_MEMORY] = "memory",
                                         [SW_ENGINE_WRONG] = "wrong"};
    sw_engine_result_t r;
    sw_engine_result(result->engine, &r);
    fprintf(to, "{\"state\": \"%s\", \"ranks\": %u, \"end_ns\": ",
            states[result->state], result->ranks);
    put_ns(to, r.end);
    fprintf(to,
            ", \"operations\": %llu, \"messages\": %llu, \"bytes\": %llu, "
            "\"wildcards\": %llu, \"undecided\": %llu, \"disordered\": %llu, "
            "\"forced\": %llu",
            (unsigned long long)r.operations, (unsigned long long)r.messages,
            (unsigned long long)r.bytes, (unsigned long long)r.wildcards,
            (unsigned long long)r.undecided, (unsigned long long)r.disordered,
            (unsigned long long)r.forced);
    put_collectives(to, &r);
    put_ranks(to, result, &r);
    put_sections(to, result);
    if (result->state == SW_ENGINE_DEADLOCK)
        put_stuck(to, result);
    fprintf(to,
            ", \"extrapolated\": %s, \"wall_s\": %.6f, \"damaged\": %llu, "
            "\"notes\": [",
            result->extrapolated ? "true" : "false", result->wall,
            (unsigned long long)result->damaged);
    const char *before = "";
    for (unsigned i = 0;
         i < sizeof result->notes / sizeof *result->notes && result->notes[i];
         i++) {
        if (!*result->notes[i])
            continue;
        fputs(before, to);
        put_string(to, result->notes[i]);
        before = ", ";
    }
    fprintf(to, "]}\n");
}

void sw_result_stuck(FILE *to, const sw_result_t *result)
{
    uint32_t stuck = 0;
    char text[TEXT];
    fprintf(to, "deadlock: no rank can ever go on\n");
    for (uint32_t i = 0; i < result->ranks; i++) {
        sw_engine_stuck(result->engine, i, text, sizeof text);
        if (*text && stuck++ < STUCK)
            fprintf(to, "  rank %u: %s\n", i, text);
    }
    if (stuck > STUCK)
        fprintf(to, "  and %u more ranks wait\n", stuck - STUCK);
}
