/*
 * machine.c - the machine as a whole.
 *
 * A walk over the domains of a kind takes a processor's domain, and goes on
 * with the processors that are in none so far.
 */
#include "machine.h"

#include "node/os/os.h"

#include <string.h>

static size_t cache_bytes(int cpu, int level)
{
    uint64_t bytes = 0;
    int index = sw_sysfs_cache(cpu, level);
    if (index < 0 ||
        !sw_sysfs_number(&bytes, "cpu/cpu%d/cache/index%d/size", cpu, index))
        return 0;
    return (size_t)bytes;
}

static bool domain_of(sw_domain_t kind, int cpu, sw_cpus_t *to)
{
    switch (kind) {
    case SW_DOMAIN_PACKAGE: return sw_sysfs_package(cpu, to);
    case SW_DOMAIN_NUMA: return sw_sysfs_numa(cpu, to);
    case SW_DOMAIN_CORE: return sw_sysfs_core(cpu, to);
    case SW_DOMAIN_L3: break;
    }
    int index = sw_sysfs_cache(cpu, 3);
    return index >= 0 &&
           sw_sysfs_cpus(to, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
                         index);
}

bool sw_machine_online(sw_cpus_t *to)
{
    return sw_sysfs_cpus(to, "cpu/online");
}

bool sw_machine_domain(sw_domain_t kind, sw_cpus_t *left, sw_cpus_t *to)
{
    for (int cpu; (cpu = sw_cpus_next(left, 0)) >= 0;) {
        bool found = domain_of(kind, cpu, to);
        left->word[cpu / 64] &= ~((uint64_t)1 << cpu % 64);
        for (int w = 0; found && w < SW_CPU_WORDS; w++)
            left->word[w] &= ~to->word[w];
        if (found)
            return true;
    }
    return false;
}

static int size_of(const sw_cpus_t *cpus)
{
    int n = 0;
    for (int w = 0; w < SW_CPU_WORDS; w++)
        n += __builtin_popcountll(cpus->word[w]);
    return n;
}

void sw_machine_describe(sw_machine_t *to)
{
    memset(to, 0, sizeof *to);
    sw_cpus_t left, in;
    if (!sw_machine_online(&left))
        return;
    int first = sw_cpus_next(&left, 0);
    to->pus = size_of(&left);
    int *const counts[] = {&to->packages, &to->numa_nodes, &to->l3s,
                           &to->cores};
    for (int kind = SW_DOMAIN_PACKAGE; kind <= SW_DOMAIN_CORE; kind++) {
        sw_machine_online(&left);
        while (sw_machine_domain((sw_domain_t)kind, &left, &in)) {
            ++*counts[kind];
            if (kind == SW_DOMAIN_L3 && size_of(&in) > to->l3_pus)
                to->l3_pus = size_of(&in);
        }
    }
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
    int cpu = sw_cpus_next(&allowed, 0);
    if (cpu < 0 || !sw_sysfs_core(cpu, &core))
        return 1;
    for (int w = 0; w < SW_CPU_WORDS; w++)
        core.word[w] &= allowed.word[w];
    return size_of(&core) ? size_of(&core) : 1;
}
