/*
 * location.c - locations and the machine's figures, read from tables in /sys
 * as various machines have them: written here into a folder of our own.
 */
#include "node/os/os.h"
#include "node/base/settings.h"
#include "topology/location.h"
#include "topology/machine.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* 48 processing units: 2 packages of 2 NUMA nodes of 2 L3s of 3 cores, with 2
 * threads each; the second threads are numbered after all the first ones, as
 * x86 firmware likes it. */
#define CORES 24

typedef enum {
    PLAIN,
    NO_CACHES,
    NO_NODES,
    NO_TOPOLOGY,
    ODD_INDEX,
    BROKEN
} variant_t;

static const char *range(int first, int count)
{
    static char text[64];
    if (count == 1)
        snprintf(text, sizeof text, "%d,%d", first, first + CORES);
    else
        snprintf(text, sizeof text, "%d-%d,%d-%d", first, first + count - 1,
                 first + CORES, first + CORES + count - 1);
    return text;
}

static void write_machine(variant_t variant)
{
    static const int level[] = {1, 1, 2, 3};
    static const char *const type[] = {"Data", "Instruction", "Unified",
                                       "Unified"};
    static const char *const size[] = {"32K", "32K", "1024K", "16M"};
    put("0-47", "cpu/online");
    for (int cpu = 0; cpu < 2 * CORES; cpu++) {
        int core = cpu % CORES;
        if (variant != NO_TOPOLOGY) {
            put(range(core, 1), "cpu/cpu%d/topology/thread_siblings_list", cpu);
            put(range(core / 12 * 12, 12),
                "cpu/cpu%d/topology/core_siblings_list", cpu);
        }
        for (int i = 0; i < 4 && variant != NO_CACHES; i++) {
            /* Odd: the third level listed first, as the format allows. */
            int at = variant == ODD_INDEX ? (i + 1) % 4 : i;
            put(level[i] == 1   ? "1"
                : level[i] == 2 ? "2"
                                : "3",
                "cpu/cpu%d/cache/index%d/level", cpu, at);
            put(type[i], "cpu/cpu%d/cache/index%d/type", cpu, at);
            put(size[i], "cpu/cpu%d/cache/index%d/size", cpu, at);
            put(variant == BROKEN && i == 3 ? "0-,oops"
                : level[i] == 3             ? range(core / 3 * 3, 3)
                                            : range(core, 1),
                "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, at);
        }
    }
    if (variant == NO_NODES)
        return;
    put("0-3,7", "node/online");
    put("", "node/node7/cpulist"); /* memory only */
    for (int node = 0; node < 4; node++)
        put(range(node * 6, 6), "node/node%d/cpulist", node);
    for (int cpu = 0; cpu < 2 * CORES; cpu++) {
        char link[128], to[64];
        snprintf(link, sizeof link, "%s/cpu/cpu%d/node%d", root, cpu,
                 cpu % CORES / 6);
        snprintf(to, sizeof to, "../../node/node%d", cpu % CORES / 6);
        if (variant == NO_TOPOLOGY || variant == NO_CACHES) {
            char folder[128];
            snprintf(folder, sizeof folder, "%s/cpu/cpu%d", root, cpu);
            mkdir(folder, 0700);
        }
        if (symlink(to, link))
            fail("cannot link %s", link);
    }
}

/* Checks --------------------------------------------------------------- */

static void expect(const char *allowed, int package, int numa, int l3, int core)
{
    sw_cpus_t cpus;
    sw_location_t at;
    if (!sw_cpus_parse(allowed, &cpus))
        fail("the test's own list %s", allowed);
    sw_location_of(&cpus, &at);
    if (at.package != package || at.numa != numa || at.l3 != l3 ||
        at.core != core)
        fail("on %s: package %d, numa %d, l3 %d, core %d; not %d %d %d %d",
             allowed, at.package, at.numa, at.l3, at.core, package, numa, l3,
             core);
}

static void expect_machine(sw_machine_t want)
{
    sw_machine_t m;
    sw_machine_describe(&m);
    if (m.packages != want.packages || m.numa_nodes != want.numa_nodes ||
        m.l3s != want.l3s || m.cores != want.cores || m.pus != want.pus ||
        m.l3_pus != want.l3_pus || m.l1d != want.l1d || m.l2 != want.l2 ||
        m.l3 != want.l3)
        fail("machine: %d packages, %d nodes, %d L3s, %d cores, %d PUs, %d "
             "per L3, %zu %zu %zu bytes",
             m.packages, m.numa_nodes, m.l3s, m.cores, m.pus, m.l3_pus, m.l1d,
             m.l2, m.l3);
}

static void check_lists(void)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "-1",
                                      "3-",
                                      "5-3",
                                      "1,",
                                      ",1",
                                      "1 2",
                                      "x",
                                      "0-8192",
                                      "99999999999999999999",
                                      "1,,2",
                                      "0x3"};
    sw_cpus_t cpus, whole;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sw_cpus_parse(bad[i], &cpus))
            fail("\"%s\" is taken for a list", bad[i]);
    if (!sw_cpus_parse("63-64,8191,7\n", &cpus) ||
        sw_cpus_next(&cpus, 0) != 7 || sw_cpus_next(&cpus, 8) != 63 ||
        sw_cpus_next(&cpus, 64) != 64 || sw_cpus_next(&cpus, 65) != 8191 ||
        sw_cpus_next(&cpus, 8192) != -1 || sw_cpus_has(&cpus, 8))
        fail("a list is read wrongly");
    if (!sw_cpus_parse("0-8191", &whole) || !sw_cpus_inside(&cpus, &whole) ||
        sw_cpus_inside(&whole, &cpus))
        fail("sets inside sets");
}

static void check_variants(void)
{
    sw_machine_t all = {.packages = 2,
                        .numa_nodes = 4,
                        .l3s = 8,
                        .cores = 24,
                        .pus = 48,
                        .l3_pus = 6,
                        .l1d = 32768,
                        .l2 = 1048576,
                        .l3 = 16777216},
                 m;
    for (int variant = PLAIN; variant <= BROKEN; variant++) {
        begin();
        write_machine((variant_t)variant);
        bool top = variant != NO_TOPOLOGY, node = variant != NO_NODES;
        bool l3 = variant != NO_CACHES && variant != BROKEN;
#define IF(known, name) ((known) ? (name) : -1)
        /* One thread, one core, one L3, across L3s, nodes, packages. */
        expect("5", IF(top, 0), IF(node, 0), IF(l3, 3), IF(top, 5));
        expect("29", IF(top, 0), IF(node, 0), IF(l3, 3), IF(top, 5));
        expect("17,41", IF(top, 12), IF(node, 12), IF(l3, 15), IF(top, 17));
        expect("18-20", IF(top, 12), IF(node, 18), IF(l3, 18), -1);
        expect("20-21", IF(top, 12), IF(node, 18), -1, -1);
        expect("14,38,23", IF(top, 12), -1, -1, -1);
        expect("0-47", -1, -1, -1, -1);
        expect("11-12", -1, -1, -1, -1);
        /* A processor that the tables do not know. */
        expect("48", -1, -1, -1, -1);
        m = all;
        if (!top)
            m.packages = m.cores = 0;
        if (!node)
            m.numa_nodes = 0;
        if (!l3)
            m.l3s = m.l3_pus = 0;
        if (variant == NO_CACHES)
            m.l1d = m.l2 = m.l3 = 0;
        expect_machine(m);
        end();
    }
    /* An empty folder; an affinity mask without any processor. */
    begin();
    expect("0", -1, -1, -1, -1);
    expect_machine((sw_machine_t){0});
    sw_location_t at;
    sw_location_of(&(sw_cpus_t){{0}}, &at);
    if (at.package != -1)
        fail("no processor, but a package");
    end();
}

/* The door refuses: in a process of its own, since refusals are read once. */
static void check_refused(void)
{
    pid_t child = fork();
    if (child == 0) {
        sw_settings.refuse = "topology";
        sw_location_t at;
        sw_location_self(&at);
        expect("0", -1, -1, -1, -1);
        expect_machine((sw_machine_t){0});
        _exit(at.package == -1 && at.numa == -1 && at.l3 == -1 &&
                      at.core == -1 && sw_machine_l2_bytes() == 0 &&
                      sw_machine_l3_bytes() == 0
                  ? 0
                  : 1);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("with the tables refused, something is known");
}

/* This process, on the fixture: its mask is real, the tables are not. */
static void check_self(void)
{
    uint64_t mask[SW_CPU_WORDS];
    int allowed = sw_os_affinity(mask, SW_CPU_WORDS), cpu = 0;
    while (!(mask[cpu / 64] >> cpu % 64 & 1))
        cpu++;
    begin();
    char name[32];
    snprintf(name, sizeof name, "%d", cpu);
    put(name, "cpu/cpu%d/topology/thread_siblings_list", cpu);
    put("0-8191", "cpu/cpu%d/topology/core_siblings_list", cpu);
    put("2", "cpu/cpu%d/cache/index2/level", cpu);
    put("Unified", "cpu/cpu%d/cache/index2/type", cpu);
    put("512K", "cpu/cpu%d/cache/index2/size", cpu);
    sw_location_t at;
    sw_location_self(&at);
    if (at.package != 0 || at.core != (allowed == 1 ? cpu : -1) ||
        at.numa != -1 || at.l3 != -1)
        fail("this process is said to be on package %d, core %d", at.package,
             at.core);
    if (sw_machine_l2_bytes() != 524288 || sw_machine_l3_bytes() != 0)
        fail("cache sizes %zu %zu", sw_machine_l2_bytes(),
             sw_machine_l3_bytes());
    end();
}

int main(void)
{
    check_refused();
    check_lists();
    check_variants();
    check_self();
    return 0;
}
