/*
 * where.c - what a capture says of a rank's place, from tables in /sys that
 * this program writes: 2 packages of 2 cores of 2 threads, and a NUMA domain
 * that is memory alone.
 */
#include "profile/capture/where.h"
#include "topology/machine.h"
#include "../../topology/tables.h"

static void write_tables(void)
{
    static const char *const package[] = {"0-1,4-5", "2-3,6-7"};
    static const char *const core[] = {"0,4", "1,5", "2,6", "3,7"};
    put("0-7", "cpu/online");
    put("0-2", "node/online");
    put("", "node/node2/cpulist");
    for (int cpu = 0; cpu < 8; cpu++) {
        int half = cpu % 4 / 2;
        put(package[half], "cpu/cpu%d/topology/core_siblings_list", cpu);
        put(core[cpu % 4], "cpu/cpu%d/topology/thread_siblings_list", cpu);
        put(package[half], "cpu/cpu%d/node%d/cpulist", cpu, half);
        put("3", "cpu/cpu%d/cache/index3/level", cpu);
        put("Unified", "cpu/cpu%d/cache/index3/type", cpu);
        put("0-7", "cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
    }
}

/* What a look puts, as a string of its own. */
static const char *look(bool describe)
{
    static char text[4096];
    sw_blob_t to = {0};
    sw_where_look(describe);
    sw_where_put(&to);
    if (to.lost || to.size >= sizeof text)
        fail("%zu bytes", to.size);
    memcpy(text, to.at, to.size);
    text[to.size] = '\0';
    sw_blob_free(&to);
    return text;
}

int main(void)
{
    static const char want[] =
        "\", \"domains\": {\"package\": [\"0-1,4-5\", \"2-3,6-7\"], "
        "\"numa\": [\"0-1,4-5\", \"2-3,6-7\"], \"cache\": [\"0-7\"], "
        "\"core\": [\"0,4\", \"1,5\", \"2,6\", \"3,7\"]}, ";
    begin();
    /* Without tables there are the rank's processors alone. */
    const char *text = look(true);
    if (strncmp(text, "\"cpus\": \"", 9) || strstr(text, "domains"))
        fail("no tables: %s", text);
    write_tables();
    text = look(true);
    const char *at = strstr(text, "\", ");
    if (!at || strcmp(at, want))
        fail("%s, not %s", text, want);
    text = look(false);
    if (strncmp(text, "\"cpus\": \"", 9) || strstr(text, "domains"))
        fail("another rank of the node: %s", text);
    end();
    return 0;
}
