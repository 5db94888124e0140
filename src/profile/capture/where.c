/*
 * where.c - see where.h.
 *
 * A rank that dies writes its capture in a signal handler, so the text is made
 * when the profile begins.
 */
#include "where.h"

#include "topology/machine.h"

static sw_blob_t known;

/* "0-3,8", as the kernel writes it. */
static void put_cpus(sw_blob_t *to, const sw_cpus_t *cpus)
{
    sw_blob_text(to, "\"");
    for (int first = sw_cpus_next(cpus, 0), last; first >= 0;) {
        for (last = first; sw_cpus_next(cpus, last + 1) == last + 1;)
            last++;
        sw_blob_number(to, (uint64_t)first);
        if (last > first) {
            sw_blob_text(to, "-");
            sw_blob_number(to, (uint64_t)last);
        }
        first = sw_cpus_next(cpus, last + 1);
        sw_blob_text(to, first < 0 ? "" : ",");
    }
    sw_blob_text(to, "\", ");
}

static void put_domains(sw_blob_t *to)
{
    static const char *const names[] = {"\"package\": [", "\"numa\": [",
                                        "\"cache\": [", "\"core\": ["};
    sw_cpus_t left, in;
    if (!sw_machine_online(&left))
        return;
    sw_blob_text(to, "\"domains\": {");
    for (int kind = SW_DOMAIN_PACKAGE; kind <= SW_DOMAIN_CORE; kind++) {
        sw_blob_text(to, names[kind]);
        sw_machine_online(&left);
        while (sw_machine_domain((sw_domain_t)kind, &left, &in))
            put_cpus(to, &in);
        sw_blob_close(to, "], ");
    }
    sw_blob_close(to, "}, ");
}

void sw_where_look(bool describe)
{
    sw_cpus_t allowed;
    sw_blob_free(&known);
    sw_os_affinity_all(allowed.word);
    sw_blob_text(&known, "\"cpus\": ");
    put_cpus(&known, &allowed);
    if (describe)
        put_domains(&known);
}

void sw_where_put(sw_blob_t *text)
{
    if (!known.lost)
        sw_blob_put(text, known.at, known.size);
}
