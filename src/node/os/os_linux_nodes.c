/*
 * os_linux_nodes.c - the part of the door to Linux that deals with NUMA nodes:
 * where pages lie, and where new ones are to lie.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int sw_os_memory_nodes(void)
{
    char text[256];
    int n = 0;
    if (sw_os_read_text("/sys/devices/system/node/has_memory", text,
                        sizeof text) <= 0)
        return 1;
    for (char *at = text; *at >= '0' && *at <= '9'; at += *at == ',') {
        long low = strtol(at, &at, 10);
        n += 1 + (int)(*at == '-' ? strtol(at + 1, &at, 10) - low : 0);
    }
    return n ? n : 1;
}

int sw_os_nodes_of(const void *p, size_t pages, int *node)
{
    void *at[64];
    for (size_t i = 0; i < pages; i += 64) {
        size_t n = sw_min(pages - i, 64);
        for (size_t k = 0; k < n; k++)
            at[k] = (char *)(uintptr_t)p + (i + k) * SW_PAGE;
        if (syscall(SYS_move_pages, 0, n, at, NULL, node + i, 0))
            return -1;
    }
    return 0;
}

void sw_os_no_policy(void *p, size_t size)
{
    syscall(SYS_mbind, p, size, 0, NULL, 0, 0);
}

#define NODE_WORDS 16

int sw_os_prefer_node(int node)
{
    enum { PREFERRED = 1 };
    static __thread struct {
        bool kept;
        int mode;
        unsigned long mask[NODE_WORDS];
    } before __attribute__((tls_model("initial-exec")));
    const unsigned long bits = sizeof before.mask * 8;
    if (!before.kept) {
        if (node < 0)
            return 0;
        if (syscall(SYS_get_mempolicy, &before.mode, before.mask, bits, NULL,
                    0))
            return -1;
        before.kept = true;
    }
    if (node < 0) {
        before.kept = false;
        return (int)syscall(SYS_set_mempolicy, before.mode, before.mask, bits);
    }
    unsigned long mask[NODE_WORDS] = {0};
    if ((unsigned long)node >= bits - 1)
        return -1;
    mask[node / 64] = 1ul << node % 64;
    return (int)syscall(SYS_set_mempolicy, PREFERRED, mask, bits);
}
