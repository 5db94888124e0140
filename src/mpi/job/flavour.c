/*
 * flavour.c - the flavour library as the front door sees it.
 *
 * A procedure is ours if this room defines sw_MPI_Name. The references are
 * weak and hidden: the static linker settles them when the library is made,
 * to the function or to NULL, so that no list has to be kept. A procedure
 * that the host lacks is never offered.
 */
#include "contract/flavour.h"
#include "contract/front.h"
#include "mpi/base/host.h"
#include "mpi/base/progress.h"
#include "mpi/p2p/give.h"
#include "mpi/request/shadow.h"
#include "mpi/record/traffic.h"
#include "mpi/virtual/gives.h"
#include "mpi/watch/watched.h"
#include "node/control.h"
#include "node/launcher.h"
#include "node/base/settings.h"

#include <string.h>

#define SW_PROC(index, name)                                  \
    extern void sw_ours_##name(void) __asm__("sw_MPI_" #name) \
        __attribute__((weak, visibility("hidden")));
#include "procedures.inc"
#undef SW_PROC

#define SW_PROC(index, name)                                               \
    extern void sw_recorded_##name(void) __asm__("sw_recorded_MPI_" #name) \
        __attribute__((weak, visibility("hidden")));
#include "procedures.inc"
#undef SW_PROC

#define SW_PROC(index, name)                                             \
    extern void sw_virtual_##name(void) __asm__("sw_virtual_MPI_" #name) \
        __attribute__((weak, visibility("hidden")));
#include "procedures.inc"
#undef SW_PROC

#define SW_PROC(index, name)                                             \
    extern void sw_watched_##name(void) __asm__("sw_watched_MPI_" #name) \
        __attribute__((weak, visibility("hidden")));
#include "procedures.inc"
#undef SW_PROC

static const sw_function_t ours[] = {
#define SW_PROC(index, name) [index] = sw_ours_##name,
#include "procedures.inc"
#undef SW_PROC
};

/* With STRAIGHTWAY_PROFILE: the wrappers before them; see record/event.h. */
static const sw_function_t recorded[] = {
#define SW_PROC(index, name) [index] = sw_recorded_##name,
#include "procedures.inc"
#undef SW_PROC
};

/* With STRAIGHTWAY_WHATIF: see mpi/virtual/virtual.h. */
static const sw_function_t virtual[] = {
#define SW_PROC(index, name) [index] = sw_virtual_##name,
#include "procedures.inc"
#undef SW_PROC
};

/* With STRAIGHTWAY_WHERE: see mpi/watch/watched.h. */
static const sw_function_t watched[] = {
#define SW_PROC(index, name) [index] = sw_watched_##name,
#include "procedures.inc"
#undef SW_PROC
};

/* Where the host's procedure is kept. */
static void *const theirs[SW_PROC_COUNT] = {
#define SW_HOST_PROC(name) [SW_PROC_##name] = &host.name,
#include "host.inc"
#undef SW_HOST_PROC
};

static sw_function_t entry(int procedure)
{
    void *const *their = theirs[procedure];

    if (!their || !*their)
        return NULL;
    if (*sw_settings.whatif && virtual[procedure])
        return virtual[procedure];
    if (sw_settings.profile && recorded[procedure])
        return recorded[procedure];
    if (sw_settings.where && watched[procedure])
        return watched[procedure];
    return sw_settings.enable ? ours[procedure] : NULL;
}

/* Virtual time sees sends and receives in their place. */
static const sw_hands_t *hands(void)
{
    static const sw_hands_t ours = {.give = sw_give,
                                    .take = sw_take,
                                    .take_matched = sw_give_take_matched,
                                    .itake = sw_itake};
    static const sw_hands_t seen = {.give = sw_recorded_give,
                                    .take = sw_recorded_take,
                                    .take_matched = sw_recorded_take_matched,
                                    .itake = sw_recorded_itake};
    return *sw_settings.whatif   ? &sw_virtual_hands
           : !sw_settings.enable ? NULL
           : sw_settings.profile ? &seen
                                 : &ours;
}

sw_host_t served;

/* See lifecycle.c. */
static bool is_always_ours(int procedure)
{
    return procedure == SW_PROC_Init || procedure == SW_PROC_Init_thread ||
           procedure == SW_PROC_Finalize ||
           procedure == SW_PROC_Session_finalize;
}

/* Put `function` in the place of a procedure of the host's. */
static void put(sw_host_t *in, int procedure, const sw_function_t *function)
{
    const char *their = theirs[procedure];
    memcpy((char *)in + (their - (const char *)&host), function,
           sizeof *function);
}

/* What wrappers call: recorded ones the watched ones, and these ours, or the
 * host's. */
static void fill_served(void)
{
    below = host;
    for (int i = 0; i < SW_PROC_COUNT; i++) {
        void *const *their = theirs[i];
        if (their && *their && ours[i] &&
            (sw_settings.enable || is_always_ours(i)))
            put(&below, i, &ours[i]);
    }
    served = below;
    for (int i = 0; i < SW_PROC_COUNT && sw_settings.where; i++) {
        void *const *their = theirs[i];
        if (their && *their && watched[i])
            put(&served, i, &watched[i]);
    }
}

static const char *bind_host(void *(*find)(const char *symbol))
{
    const char *why = sw_host_bind(find);

    sw_progress_serve = sw_shadow_progress;
    if (!why && sw_settings.enable)
        atomic_store(&sw_accelerate_switch, SW_ACCELERATE_ON);
    if (*sw_settings.whatif && sw_settings.profile) {
        if (sw_launcher_first_rank())
            sw_say("in virtual time nothing is profiled; replay the operations "
                   "instead (STRAIGHTWAY_WHATIF_RECORD)");
        sw_settings.profile = sw_settings.trace = false;
    }
    if (*sw_settings.whatif || why || (sw_settings.where && !sw_watched_open()))
        sw_settings.where = false;
    if (!why)
        fill_served();
    return why;
}

SW_API const sw_flavour_t sw_flavour = {
    .version = SW_FLAVOUR_VERSION,
    .name = SW_FLAVOUR,
    .bind = bind_host,
    .entry = entry,
    .hands = hands,
};
