/*
 * start.c - what happens when a program starts with this library preloaded.
 *
 * Most programs that inherit LD_PRELOAD are not MPI programs (shells,
 * compilers, Python's helpers): the constructor must be quick, silent and
 * without effect on them. It reads the settings, starts the arena and puts
 * the MPI names in order (names.c). Everything else waits for the first MPI
 * call.
 *
 * The destructor answers the worst question of all profiling tools, "why is
 * the report empty?": if statistics were asked for and no MPI call came, it
 * says so, once per job.
 */
#include "front/clock/callers.h"
#include "front/clock/clocks.h"
#include "door.h"
#include "front/heap/heap.h"
#include "front/objects/elf.h"
#include "node/arena/arena.h"
#include "node/launcher.h"
#include "node/peer.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "profile/capture/ending.h"
#include "profile/capture/page.h"
#include "profile/base/job.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What a pool may have under valgrind. */
#define CHECKED_POOL ((size_t)64 << 20)

static pthread_once_t started = PTHREAD_ONCE_INIT;

static int is_valgrind(const sw_object_t *object, void *context)
{
    (void)context;
    return sw_elf_text_begins(object->soname, "vgpreload_core");
}

/* At the end valgrind looks for pointers in all memory that can be written. In
 * a large shared mapping that looking makes every page. So this process has no
 * arena, a small pool, and maps no more of a peer: that of ranks which are
 * under valgrind, too. */
static void mind_valgrind(void)
{
    if (!sw_objects_walk(is_valgrind, NULL))
        return;
    sw_settings.arena = false;
    sw_settings.pool_size = sw_min(sw_settings.pool_size, CHECKED_POOL);
    sw_peer_most = CHECKED_POOL;
    if (sw_settings.verbose)
        sw_say("valgrind is here: this process has no arena, a pool of %zu "
               "MiB, and memory in common only with ranks that are under "
               "valgrind, too",
               sw_settings.pool_size >> 20);
}

static void start(void)
{
    sw_settings_load();
    sw_control_load();
    mind_valgrind();
    /* What a program computes in virtual time is to take what it takes alone:
     * shared pages are not as quick. */
    if (*sw_settings.whatif)
        sw_settings.arena = false;
    sw_clocks_start();
    sw_callers_start(sw_door_is_host);
    if (sw_settings.enable) {
        sw_arena_start();
        sw_heap_start();
    }
}

void sw_start(void)
{
    pthread_once(&started, start);
}

__attribute__((constructor)) static void construct(void)
{
    int error = errno;

    sw_start();
    sw_exec_start();
    if (sw_settings.profile)
        sw_profile_page_prepare();
    sw_names_start();
    errno = error;
}

__attribute__((destructor)) static void report_silence(void)
{
    sw_ending_now(SW_END_EXIT);
    if (!(sw_settings.stats || sw_settings.profile) ||
        !sw_launcher_first_rank())
        return;
    if (sw_door_opened()) {
        if (sw_settings.profile && !sw_job.start && *sw_door_flavour())
            sw_say("%s was not profiled: it ended without a call of MPI_Init "
                   "(programs that use MPI sessions only cannot be profiled "
                   "yet).",
                   program_invocation_short_name);
        return;
    }
    sw_say("%s made no MPI call that Straightway could see, so there is "
           "nothing to report. Either it is not an MPI program, or MPI is "
           "linked into it statically: link it with the shared library.",
           program_invocation_short_name);
}
