/*
 * machine.c - the machine as a whole.
 *
 * A domain is named by its first processor (sysfs.h), so counting domains is
 * counting the processors that come first in theirs.
 */
#include "machine.h"

#include "node/os/os.h"

#include <string.h>

static size_t cache_bytes(int cpu, int level)
{
    uint64_t bytes = 0;
    int index = sw_sysfs_cache(cpu, level);
    if (index < 0 || !sw_sysfs_number(&bytes, "cpu/cpu%d/cache/index%d/size",
                                      cpu, index))
        return 0;
    return (size_t)bytes;
}

void sw_machine_describe(sw_machine_t *to)
{
    memset(to, 0, sizeof *to);
    sw_cpus_t online, in, nodes;
    if (!sw_sysfs_cpus(&online, "cpu/online"))
        return;
    int first = sw_cpus_next(&online, 0);
    for (int cpu = first; cpu >= 0; cpu = sw_cpus_next(&online, cpu + 1)) {
        to->pus++;
        to->cores += sw_sysfs_core(cpu, &in) && sw_cpus_next(&in, 0) == cpu;
        to->packages += sw_sysfs_package(cpu, &in) &&
                        sw_cpus_next(&in, 0) == cpu;
        int index = sw_sysfs_cache(cpu, 3);
        if (index >= 0 && sw_sysfs_cpus(&in,
                "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index) &&
            sw_cpus_next(&in, 0) == cpu) {
            int share = 0;
            for (int w = 0; w < SW_CPU_WORDS; w++)
                share += __builtin_popcountll(in.word[w]);
            to->l3s++;
            to->l3_pus = to->l3_pus > share ? to->l3_pus : share;
        }
    }
    if (sw_sysfs_cpus(&nodes, "node/online"))
        for (int k = sw_cpus_next(&nodes, 0); k >= 0;
             k = sw_cpus_next(&nodes, k + 1))
            to->numa_nodes += sw_sysfs_cpus(&in, "node/node%d/cpulist", k);
    to->l1d = cache_bytes(first, 1);
    to->l2 = cache_bytes(first, 2);
    to->l3 = cache_bytes(first, 3);
}

/* Threads that ask at once compute the same; SIZE_MAX: not asked yet. */
static size_t cached(_Atomic size_t *known, int level)
{
    size_t bytes = atomic_load_explicit(known, memory_order_relaxed);
    if (sw_unlikely(bytes == SIZE_MAX)) {
        sw_cpus_t allowed;
        sw_os_affinity_all(allowed.word);
        int cpu = sw_cpus_next(&allowed, 0);
        bytes = cpu < 0 ? 0 : cache_bytes(cpu, level);
        atomic_store_explicit(known, bytes, memory_order_relaxed);
    }
    return bytes;
}

size_t sw_machine_l2_bytes(void)
{
    static _Atomic size_t known = SIZE_MAX;
    return cached(&known, 2);
}

size_t sw_machine_l3_bytes(void)
{
    static _Atomic size_t known = SIZE_MAX;
    return cached(&known, 3);
}

int sw_machine_core_threads(void)
{
    sw_cpus_t allowed, core;
    sw_os_affinity_all(allowed.word);
    int cpu = sw_cpus_next(&allowed, 0), n = 0;
    if (cpu < 0 || !sw_sysfs_core(cpu, &core))
        return 1;
    for (int w = 0; w < SW_CPU_WORDS; w++)
        n += __builtin_popcountll(core.word[w] & allowed.word[w]);
    return n ? n : 1;
}
