/*
 * handle.c - programs that ask dlsym for MPI.
 *
 * Julia and ctypes open libmpi themselves and take MPI_Send from its handle,
 * past every preloaded library. And mpi4py asks the global scope whether the
 * process already has MPI ("is there an MPI_Get_version?") and dlopens one if
 * not; an answer without substance would break it. So dlsym is one of our
 * names. For MPI's procedures it differs from the real one in two ways:
 *
 *   a function found in the host is replaced by our stub for PMPI_Name (the
 *   host's own MPI_Name stands behind all tools as well: without us, neither
 *   would see this call);
 *
 *   dlsym finds no name that no host in the process has. It then gives the
 *   proper error text; names.c says why the linker alone would give none.
 *
 * A lookup of madvise finds libc's: transports of MPIs (UCX, libfabric) put a
 * jump of their own where it begins, and would cut ours off.
 *
 * All else, and every lookup relative to the caller (RTLD_NEXT), is passed on
 * untouched to the next dlsym: another tool's or libc's. With two MPIs in the
 * process it is not our business which one a handle means: the real answer
 * stands, unless it is the host that we serve.
 *
 * What still escapes: dlvsym, and modules opened with RTLD_DEEPBIND, which
 * asks for exactly that.
 */
#include "door.h"
#include "front/heap/heap.h"
#include "front/objects/hosts.h"
#include "node/base/settings.h"

#include <dlfcn.h>
#include <stdio.h>

typedef void *(*dlsym_t)(void *handle, const char *name);

/* The dlsym that comes after ours; dlsym.S jumps there. */
__attribute__((visibility("hidden"))) _Atomic(dlsym_t) sw_real_dlsym;

struct next {
    bool after_us;
    dlsym_t found;
};

static int look_for_next(const sw_object_t *object, void *context)
{
    struct next *next = context;
    static _Atomic int anchor;

    if (sw_object_holds(object, &anchor)) {
        next->after_us = true;
    } else if (next->after_us) {
        next->found = (dlsym_t)sw_object_address(object, "dlsym");
    }
    return next->found != NULL;
}

static dlsym_t real_dlsym(void)
{
    dlsym_t real = atomic_load_explicit(&sw_real_dlsym, memory_order_relaxed);

    if (sw_unlikely(!real)) {
        struct next next = {false, NULL};
        sw_objects_walk(look_for_next, &next);
        real = next.found;
        atomic_store_explicit(&sw_real_dlsym, real, memory_order_relaxed);
    }
    return real;
}

__attribute__((visibility("hidden"))) void *sw_handle_look(void *handle,
                                                           const char **name)
{
    static _Thread_local char absent[96]
        __attribute__((tls_model("initial-exec")));
    const char *text = *name;
    dlsym_t real = real_dlsym();
    sw_object_t hosts[SW_HOSTS_MAX];
    int k, count;

    if (!text || handle == RTLD_NEXT)
        return NULL;
    if (handle == RTLD_DEFAULT && !sw_elf_text_order(text, "madvise"))
        return sw_heap_real_madvise();
    if (handle == RTLD_DEFAULT && !sw_elf_text_order(text, "mremap"))
        return sw_heap_real_mremap();
    if ((k = sw_names_number(text)) < 0)
        return NULL;

    count = sw_hosts_find(hosts);
    if (sw_names_late() && !sw_names_present((unsigned)k)) {
        /* Our own symbol would say NULL and leave dlerror empty. */
        snprintf(absent, sizeof absent, "%s (no MPI library here has it)",
                 text);
        *name = absent;
        return NULL;
    }
    if (handle == RTLD_DEFAULT || !sw_front_serves() || !real)
        return NULL;

    void *found = real(handle, text);
    for (int i = 0; found && i < count; i++)
        if (sw_object_holds(&hosts[i], found) &&
            (count == 1 || !sw_elf_text_order(hosts[i].path, sw_front_host())))
            found = sw_stubs + (size_t)(k | 1) * SW_STUB_STRIDE;
    return found;
}
