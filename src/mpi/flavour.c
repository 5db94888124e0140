/*
 * flavour.c - the flavour library as the front door sees it.
 *
 * A procedure is ours if this room defines sw_MPI_Name. The references are
 * weak and hidden: the static linker settles them when the library is made,
 * to the function or to NULL, so that no list has to be kept. A procedure
 * that the host lacks is never offered.
 */
#include "../front/flavour.h"
#include "host.h"
#include "../node/control.h"

#define SW_PROC(index, name) \
    extern void sw_ours_##name(void) __asm__("sw_MPI_" #name) \
        __attribute__((weak, visibility("hidden")));
#include "procedures.inc"
#undef SW_PROC

static const sw_entry_t ours[] = {
#define SW_PROC(index, name) [index] = sw_ours_##name,
#include "procedures.inc"
#undef SW_PROC
};

/* Where the host's procedure is kept. */
static void *const theirs[SW_PROC_COUNT] = {
#define SW_HOST_PROC(name) [SW_PROC_##name] = &host.name,
#include "host.inc"
#undef SW_HOST_PROC
};

static sw_entry_t entry(int procedure)
{
    void *const *their = theirs[procedure];

    return their && *their ? ours[procedure] : NULL;
}

static const char *bind_host(void *(*find)(const char *symbol))
{
    const char *why = sw_host_bind(find);

    if (!why)
        atomic_store(&sw_accelerate_switch, 1);
    return why;
}

SW_API const sw_flavour_t sw_flavour = {
    .name = SW_FLAVOUR,
    .bind = bind_host,
    .entry = entry,
};
