/*
 * result_json.c - see result.h.
 */
#include "result.h"

#include <string.h>

#define STUCK 16        /* ranks told one by one */
#define TEXT 160

static void put_ns(FILE *to, sw_ps_t ps)
{
    fprintf(to, "%lld", (long long)(ps / SW_PS_PER_NS));
    if (ps % SW_PS_PER_NS)
        fprintf(to, ".%03lld", (long long)(ps % SW_PS_PER_NS));
}

static void put_string(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

static void put_times(FILE *to, const sw_rank_time_t *time)
{
    const struct {
        const char *name;
        sw_ps_t ps;
    } parts[] = {{"end_ns", time->end}, {"compute_ns", time->compute},
                 {"noise_ns", time->noise}, {"messages_ns", time->messages},
                 {"collectives_ns", time->collectives}};
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
    for (uint32_t i = 0; i < result->ranks; i++) {
        sum.end += r->ranks[i].end;
        sum.compute += r->ranks[i].compute;
        sum.noise += r->ranks[i].noise;
        sum.messages += r->ranks[i].messages;
        sum.collectives += r->ranks[i].collectives;
    }
    fprintf(to, ", \"sums\": ");
    put_times(to, &sum);
    fprintf(to, ", \"rank_times\": [");
    for (uint32_t i = 0; i < result->ranks; i++) {
        fputs(i ? ", " : "", to);
        put_times(to, &r->ranks[i]);
    }
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
        fprintf(to, "%s{\"rank\": %u, \"waits_for\": ",
                stuck > 1 ? ", " : "", i);
        put_string(to, text);
        putc('}', to);
    }
    fprintf(to, "], \"stuck_ranks\": %u", stuck);
}

void sw_result_json(FILE *to, const sw_result_t *result)
{
    static const char *const states[] = {
        [SW_ENGINE_DONE] = "done", [SW_ENGINE_WAITS] = "waits",
        [SW_ENGINE_DEADLOCK] = "deadlock", [SW_ENGINE_MEMORY] = "memory"};
    sw_engine_result_t r;
    sw_engine_result(result->engine, &r);
    fprintf(to, "{\"state\": \"%s\", \"ranks\": %u, \"end_ns\": ",
            states[result->state], result->ranks);
    put_ns(to, r.end);
    fprintf(to, ", \"operations\": %llu, \"messages\": %llu, \"bytes\": %llu, "
            "\"wildcards\": %llu, \"undecided\": %llu, \"disordered\": %llu, "
            "\"forced\": %llu",
            (unsigned long long)r.operations, (unsigned long long)r.messages,
            (unsigned long long)r.bytes, (unsigned long long)r.wildcards,
            (unsigned long long)r.undecided,
            (unsigned long long)r.disordered,
            (unsigned long long)r.forced);
    put_collectives(to, &r);
    put_ranks(to, result, &r);
    if (result->state == SW_ENGINE_DEADLOCK)
        put_stuck(to, result);
    fprintf(to, ", \"extrapolated\": %s, \"wall_s\": %.6f, \"damaged\": %llu, "
            "\"notes\": [", result->extrapolated ? "true" : "false",
            result->wall, (unsigned long long)result->damaged);
    const char *before = "";
    for (unsigned i = 0; i < sizeof result->notes / sizeof *result->notes &&
                         result->notes[i]; i++) {
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
