/*
 * hosts.c - which MPI libraries are loaded and what they are; see hosts.h.
 */
#include "hosts.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <string.h>

struct found {
    sw_object_t *hosts;
    int count;
};

static bool is_self(const sw_object_t *object)
{
    return sw_object_holds(object, (const void *)is_self);
}

static int look_for_host(const sw_object_t *object, void *context)
{
    struct found *found = context;
    sw_name_t init = sw_name("PMPI_Init");

    if (!sw_object_symbol(object, &init) || is_self(object))
        return 0;
    found->hosts[found->count++] = *object;
    return found->count == SW_HOSTS_MAX;
}

int sw_hosts_find(sw_object_t *hosts)
{
    struct found found = {hosts, 0};

    sw_objects_walk(look_for_host, &found);
    return found.count;
}

static int look_for_self(const sw_object_t *object, void *context)
{
    if (!is_self(object))
        return 0;
    *(sw_object_t *)context = *object;
    return 1;
}

bool sw_hosts_self(sw_object_t *self)
{
    return sw_objects_walk(look_for_self, self) == 1;
}

/* Is the host in the global scope? A lookup by a name that the host defines
 * and we do not must then end in it. Of two MPIs with the same names only the
 * first is reached; that one is the answer we want. */
static bool is_global(const sw_object_t *host)
{
    sw_object_t self;
    size_t count = sw_object_symbols(host);

    if (!sw_hosts_self(&self))
        return false;
    for (size_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &host->symbols[i];
        int type = ELF64_ST_TYPE(symbol->st_info);
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 ||
            ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
            (type != STT_FUNC && type != STT_OBJECT))
            continue;
        const char *text = host->strings + symbol->st_name;
        sw_name_t name = sw_name(text);
        if (strcasestr(text, "mpi") && !sw_object_symbol(&self, &name) &&
            sw_object_symbol(host, &name) == symbol &&
            strncmp(text, "MPI_", 4) != 0 && strncmp(text, "PMPI_", 5) != 0)
            return dlsym(RTLD_DEFAULT, text) ==
                   (void *)(host->base + symbol->st_value);
    }
    return false;
}

int sw_hosts_serving(const sw_object_t *hosts, int count)
{
    /* With the program or in LD_PRELOAD: what comes after us in lookup. */
    void *next = count > 1 ? dlsym(RTLD_NEXT, "PMPI_Init") : NULL;

    if (count <= 1)
        return 0;
    for (int i = 0; i < count; i++)
        if (next && sw_object_holds(&hosts[i], next))
            return i;
    for (int i = 0; i < count; i++)
        if (is_global(&hosts[i]))
            return i;
    return -1;
}

static bool named(const sw_object_t *object, const char *pattern)
{
    return fnmatch(pattern, object->soname, 0) == 0;
}

/* The names that MPI libraries give themselves: MPICH and its kin agreed on
 * libmpi.so.12 (their ABI initiative; older Debian says libmpich.so.12, Cray
 * libmpi_cray.so.12 or libmpi_gnu_91.so.12), the MPI 5.0 standard demands
 * libmpi_abi.so. */
const char *sw_hosts_flavour(const sw_object_t *host)
{
    if (named(host, "libmpi_abi.so*") || named(host, "libpmpi_abi.so*"))
        return "abi";
    if (sw_object_address(host, "ompi_mpi_comm_world"))
        return "ompi";
    if (named(host, "libmpi*.so.12*") || named(host, "libpmpi*.so.12*"))
        return "mpich";
    return NULL;
}

static size_t directory(const sw_object_t *object)
{
    const char *slash = strrchr(object->path, '/');

    return slash ? (size_t)(slash - object->path) : 0;
}

/* Another part of the same MPI: an MPI library beside it. libmpi_ilp64 is not
 * one: it stands before MPI as a tool does. */
static bool is_companion(const sw_object_t *host, const sw_object_t *other)
{
    size_t n = directory(host);

    return (named(other, "libmpi.so*") || named(other, "libpmpi*.so*") ||
            named(other, "libmpich.so*") || named(other, "libmpi_abi.so*")) &&
           directory(other) == n && memcmp(host->path, other->path, n) == 0 &&
           !is_self(other);
}

struct family {
    const sw_object_t *host;
    sw_object_t *companions;
    int count;
};

static int collect(const sw_object_t *object, void *context)
{
    struct family *family = context;

    if (is_companion(family->host, object) &&
        object->base != family->host->base)
        family->companions[family->count++] = *object;
    return family->count == SW_HOSTS_MAX;
}

int sw_hosts_companions(const sw_object_t *host, sw_object_t *companions)
{
    struct family family = {host, companions, 0};

    sw_objects_walk(collect, &family);
    return family.count;
}
