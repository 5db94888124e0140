/*
 * driver.c - a stand-in for a device's driver: its "device memory" is pages
 * that the processor cannot touch.
 *
 * KIND chooses the driver whose questions it answers: HSA or ZE. OTHER answers
 * none. CUDA's driver has a stand-in of its own, in cuda/. Device memory has a
 * second address, standin_alias, where the test program reads and writes it as
 * a kernel of the device would.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HSA 1
#define ZE 2
#define OTHER 3

#define REGIONS 8

static struct {
    char *at, *alias;
    size_t size;
    int managed;
} region[REGIONS];
/* A region is complete before it is counted (release, acquire). */
static int regions;

int standin_ready; /* 0: no call has initialised the driver */
static uint64_t asked;

/* So often was the driver asked; as cuda/standin.h, of all calls together. */
uint64_t standin_count(const char *call)
{
    return call ? 0 : __atomic_load_n(&asked, __ATOMIC_RELAXED);
}

/* Device memory, or managed memory, which the processor reaches. */
void *standin_allocate(size_t size, int managed)
{
    int fd = memfd_create("device", 0);
    if (regions == REGIONS || fd < 0 || ftruncate(fd, (off_t)size))
        return NULL;
    int protection = PROT_READ | PROT_WRITE;
    region[regions].alias = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
    region[regions].at = mmap(NULL, size, managed ? protection : PROT_NONE,
                              MAP_SHARED, fd, 0);
    region[regions].size = size;
    region[regions].managed = managed;
    close(fd);
    void *at = region[regions].at;
    __atomic_store_n(&regions, regions + 1, __ATOMIC_RELEASE);
    return at;
}

static int find(const void *at)
{
    int n = __atomic_load_n(&regions, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n; i++)
        if ((uintptr_t)at - (uintptr_t)region[i].at < region[i].size)
            return i;
    return -1;
}

void *standin_alias(const void *at)
{
    int i = find(at);
    return i < 0 ? NULL : region[i].alias + ((const char *)at - region[i].at);
}

#if KIND == HSA

int hsa_amd_pointer_info(const void *at, void *info, void *allocate,
                         uint32_t *agents, void **agent)
{
    struct {
        uint32_t size;
        int type;
        void *agent_base, *host_base;
        size_t bytes;
        void *user_data;
        uint64_t owner;
    } *to = info;
    int i = find(at);
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&standin_ready, __ATOMIC_RELAXED))
        return 0x100b;
    to->type = i < 0 ? 0 : 1;
    to->owner = i < 0 || region[i].managed ? 100 : 200;
    return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value)
{
    if (attribute != 17)
        return 0x1001;
    *(int *)value = agent == 200;
    return 0;
}

#endif
