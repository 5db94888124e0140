/*
 * hwloc.c - what we read of this machine is what hwloc reads; and trees on
 * machines that hwloc makes up from a line of text.
 *
 * Only where hwloc was found when this was built: else the test is skipped.
 */
#include "check.h"

#ifndef SW_HAVE_HWLOC
int main(void)
{
    puts("skipped: no hwloc");
    return 77;
}
#else
#include "topology/machine.h"

#include <hwloc.h>

static sw_location_t locate(hwloc_topology_t topology, hwloc_obj_t pu)
{
    static const hwloc_obj_type_t type[] = {HWLOC_OBJ_PACKAGE,
                                            HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE};
    int16_t first[3];
    for (int k = 0; k < 3; k++) {
        hwloc_obj_t in = hwloc_get_ancestor_obj_by_type(topology, type[k], pu);
        first[k] = in ? (int16_t)hwloc_bitmap_first(in->cpuset) : -1;
    }
    sw_location_t at = {first[0], -1, first[1], first[2]};
    hwloc_obj_t node = NULL;
    while (
        (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_isset(node->cpuset, pu->os_index))
            at.numa = (int16_t)hwloc_bitmap_first(node->cpuset);
    return at;
}

static int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = 0;
    hwloc_obj_t o = NULL;
    while ((o = hwloc_get_next_obj_by_type(topology, type, o)))
        n += !hwloc_bitmap_iszero(o->cpuset);
    return n;
}

static void check_this_machine(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) ||
        hwloc_topology_set_flags(topology,
                                 HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
        hwloc_topology_load(topology))
        fail("hwloc cannot read this machine");
    sw_machine_t m;
    sw_machine_describe(&m);
    /* Without NUMA tables hwloc speaks of one node, we of none. */
    if (m.packages != count(topology, HWLOC_OBJ_PACKAGE) ||
        m.numa_nodes + !m.numa_nodes != count(topology, HWLOC_OBJ_NUMANODE) ||
        m.l3s != count(topology, HWLOC_OBJ_L3CACHE) ||
        m.cores != count(topology, HWLOC_OBJ_CORE) ||
        m.pus != count(topology, HWLOC_OBJ_PU))
        fail("this machine has %d packages, %d nodes, %d L3s, %d cores, %d "
             "PUs? Not to hwloc",
             m.packages, m.numa_nodes, m.l3s, m.cores, m.pus);
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
        sw_location_t want = locate(topology, pu), at;
        sw_cpus_t one = {{0}};
        one.word[pu->os_index / 64] = (uint64_t)1 << pu->os_index % 64;
        sw_location_of(&one, &at);
        if (at.package != want.package || at.l3 != want.l3 ||
            at.core != want.core || (at.numa != want.numa && m.numa_nodes))
            fail("PU %u: we say %d %d %d %d, hwloc %d %d %d %d", pu->os_index,
                 at.package, at.numa, at.l3, at.core, want.package, want.numa,
                 want.l3, want.core);
    }
    static const hwloc_obj_type_t type[] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    const size_t ours[] = {m.l1d, m.l2, m.l3};
    for (int k = 0; k < 3; k++) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type[k], 0);
        if (ours[k] != (cache ? cache->attr->cache.size : 0))
            fail("level %d: %zu bytes? Not to hwloc", k + 1, ours[k]);
    }
    hwloc_topology_destroy(topology);
}

static void check_synthetic(const char *description, int packages)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) ||
        hwloc_topology_set_synthetic(topology, description) ||
        hwloc_topology_load(topology))
        fail("hwloc cannot make \"%s\"", description);
    int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    sw_location_t *where = grab((size_t)n * sizeof *where);
    int seen = 0;
    for (int m = 0; m < n; m++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU,
                                               (unsigned)m);
        where[m] = locate(topology, pu);
        seen += leads(where, m, SW_SHARE_PACKAGE);
    }
    if (seen != packages)
        fail("\"%s\" has %d packages", description, seen);
    for (int fanout = 2; fanout <= 16; fanout *= 2) {
        check_tree(where, n, fanout);
        /* One rank in two PUs, backwards. */
        sw_location_t *some = grab((size_t)n * sizeof *some);
        for (int m = 0; m < n / 2; m++)
            some[m] = where[n - 1 - 2 * m];
        if (n > 1)
            check_tree(some, n / 2, fanout);
        free(some);
    }
    free(where);
    hwloc_topology_destroy(topology);
}

int main(void)
{
    check_this_machine();
    check_synthetic("package:2 numa:4 l3:2 core:6 pu:2", 2);
    check_synthetic("package:8 l3:1 core:6 pu:1", 8);
    check_synthetic("package:2 l3:1 core:64 pu:1", 2);
    check_synthetic("package:4 numa:2 l3:6 core:4 pu:1", 4);
    check_synthetic("package:1 numa:1 core:4 pu:2", 1);
    return 0;
}
#endif
