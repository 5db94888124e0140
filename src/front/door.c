/*
 * door.c - the first MPI call: find the host, load its flavour, fill the
 * slots.
 *
 * The invariant: once the slots are filled, each call takes one indirect jump.
 * It leads to our function, or to the host's PMPI_ function where we do not
 * serve the call. MPI_Name and PMPI_Name differ only where another profiling
 * tool is preloaded behind us: then MPI_Name goes to the tool, which comes back
 * through PMPI_Name. A tool before us, or in the program itself, is reached
 * first and calls PMPI_Name: nothing to do.
 *
 * What can be wrong, and what is then done:
 *   no MPI loaded           the call cannot be carried out: say so, abort
 *   two MPIs                the one that lookup would reach without us; if
 *                           none is in the global scope: say so, abort
 *   unknown MPI, flavour    every call goes to the host as it is, and one
 *   library missing or      line says that nothing is accelerated and why
 *   refusing
 *   procedure missing       say so, abort (as the dynamic linker would)
 */
#include "door.h"
#include "front/objects/hosts.h"
#include "node/launcher.h"
#include "node/os/os.h"
#include "device/memory.h"
#include "node/base/settings.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* recursive: binding may call MPI */
    _Atomic bool opened;  /* someone has called */
    _Atomic bool bound;   /* host and slots are settled */
    bool binding;
    sw_object_t host;
    sw_object_t companions[SW_HOSTS_MAX];
    int companion_count;
    const char *flavour;
    const sw_hands_t *_Atomic hands;
} door = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .flavour = ""};

bool sw_door_opened(void)
{
    return atomic_load_explicit(&door.opened, memory_order_relaxed);
}

const char *sw_front_host(void)
{
    return door.host.path ? door.host.path : "";
}

const char *sw_door_flavour(void)
{
    return door.flavour;
}

static bool owns(const void *address)
{
    bool yes = sw_object_holds(&door.host, address);

    for (int i = 0; !yes && i < door.companion_count; i++)
        yes = sw_object_holds(&door.companions[i], address);
    return yes;
}

bool sw_door_is_host(const sw_object_t *object)
{
    bool yes = object->base == door.host.base;

    for (int i = 0; !yes && i < door.companion_count; i++)
        yes = object->base == door.companions[i].base;
    return yes && door.host.path;
}

const sw_hands_t *sw_door_hands(void)
{
    return atomic_load_explicit(&door.hands, memory_order_acquire);
}

/* A symbol of the host or its companions, never ours or another tool's. */
static void *find(const char *symbol)
{
    void *address = sw_object_address(&door.host, symbol);

    for (int i = 0; !address && i < door.companion_count; i++)
        address = sw_object_address(&door.companions[i], symbol);
    return address;
}

static void symbol_of(unsigned k, char symbol[72])
{
    snprintf(symbol, 72, "%s%s", k & 1 ? "P" : "", sw_proc_names[k / 2]);
}

/* The host's function for name k: its PMPI_ name; where it has none, MPI_. */
static void *host_function(unsigned k)
{
    char symbol[72];

    symbol_of(k | 1, symbol);
    void *address = find(symbol);
    return address ? address : find(symbol + 1);
}

static void no_host(unsigned k)
{
    char symbol[72];

    symbol_of(k, symbol);
    sw_say("%s was called, but no MPI library is loaded in this process. "
           "Link the program with MPI, or load the MPI library (libmpi.so) "
           "before the first call.",
           symbol);
    abort();
}

static void choose_host(unsigned k)
{
    sw_object_t hosts[SW_HOSTS_MAX];
    int count = sw_hosts_find(hosts);
    int serving;

    if (count == 0)
        no_host(k);
    serving = sw_hosts_serving(hosts, count);
    if (serving < 0) {
        sw_say("two MPI libraries are loaded and neither is global, so it "
               "cannot be told which one is meant: %s and %s. Load one of "
               "them only, or open the one you mean with RTLD_GLOBAL.",
               hosts[0].path, hosts[1].path);
        abort();
    }
    door.host = hosts[serving];
    door.companion_count = sw_hosts_companions(&door.host, door.companions);
    if (count > 1 && sw_launcher_first_rank())
        sw_say("several MPI libraries are loaded (%s, %s); serving %s, the "
               "first in the order of symbol lookup.",
               hosts[0].path, hosts[1].path, door.host.path);
}

/* The flavour libraries lie beside this one. */
static bool library_path(const char *flavour, char *path, size_t room)
{
    sw_object_t self;

    if (!sw_hosts_self(&self))
        return false;
    const char *slash = strrchr(self.path, '/');
    int n = snprintf(path, room, "%.*slibstraightway-%s.so",
                     slash ? (int)(slash - self.path) + 1 : 0, self.path,
                     flavour);
    return n > 0 && (size_t)n < room;
}

static const sw_flavour_t *refuse(const char *cause, const char *fix)
{
    if (sw_launcher_first_rank())
        sw_say("nothing is accelerated: %s. %s", cause, fix);
    return NULL;
}

/* The flavour library, bound to the host; NULL: nothing is accelerated. */
static const sw_flavour_t *load_flavour(void)
{
    const char *name = sw_hosts_flavour(&door.host);
    static char path[4096], cause[4608]; /* once, and not on a stack */

    if (!sw_front_serves())
        return NULL;
    if (!name) {
        snprintf(cause, sizeof cause,
                 "%s is an MPI whose binary interface "
                 "is not known",
                 door.host.path);
        return refuse(cause, "Open MPI, MPICH and its kin (libmpi.so.12) and "
                             "the MPI standard ABI (libmpi_abi.so) are.");
    }
    if (!library_path(name, path, sizeof path))
        return refuse("the path of libstraightway.so is too long",
                      "Install Straightway elsewhere.");

    /* The flavour library uses the host's data (predefined handles), which it
     * must find in the global scope even where the host was loaded privately.
     * A program that exports its own MPI needs no promotion. */
    if (door.host.path[0])
        dlopen(door.host.path, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    for (int i = 0; i < door.companion_count; i++)
        dlopen(door.companions[i].path, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);

    sw_device_start(); /* what is loaded next is its second look */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(cause, sizeof cause,
                 "the library for this MPI cannot be "
                 "loaded (%s)",
                 dlerror());
        return refuse(cause, "Build Straightway again where this MPI's "
                             "mpi.h can be found.");
    }
    const sw_flavour_t *flavour = dlsym(library, SW_FLAVOUR_SYMBOL);
    if (!flavour) {
        snprintf(cause, sizeof cause, "%s is not a Straightway library", path);
        return refuse(cause, "Install Straightway again.");
    }
    if (flavour->version != SW_FLAVOUR_VERSION) {
        snprintf(cause, sizeof cause,
                 "%s is of another version of "
                 "Straightway (its contract is %u, this library's %u)",
                 path, flavour->version, SW_FLAVOUR_VERSION);
        return refuse(cause, "Install Straightway again, all of it.");
    }
    const char *reason = flavour->bind(find);
    if (reason) {
        snprintf(cause, sizeof cause, "%s cannot be served: %s", door.host.path,
                 reason);
        return refuse(cause, "Use a newer version of this MPI.");
    }
    return flavour;
}

/* MPI_Name of a profiling tool that stands between us and the host. */
static void *tool_function(unsigned k)
{
    void *next = dlsym(RTLD_NEXT, sw_proc_names[k / 2]);

    return next && !owns(next) ? next : NULL;
}

/* Other hosts are not tools. */
static bool of_other_host(const sw_object_t *hosts, int count,
                          const void *address)
{
    for (int i = 0; i < count; i++)
        if (sw_object_holds(&hosts[i], address))
            return true;
    return false;
}

static int fill(const sw_flavour_t *flavour)
{
    sw_object_t hosts[SW_HOSTS_MAX];
    int count = sw_hosts_find(hosts), ours = 0;

    for (unsigned k = 0; k < SW_STUB_COUNT; k += 2) {
        void *to = host_function(k);
        if (!to)
            continue; /* stays at its thunk, which says so */
        sw_function_t entry = flavour ? flavour->entry((int)(k / 2)) : NULL;
        if (entry) {
            to = (void *)entry;
            ours++;
        }
        void *tool = tool_function(k);
        if (tool && of_other_host(hosts, count, tool))
            tool = NULL;
        atomic_store_explicit(&sw_slots[k], tool ? tool : to,
                              memory_order_release);
        atomic_store_explicit(&sw_slots[k + 1], to, memory_order_release);
    }
    return ours;
}

static void bind_host(unsigned k)
{
    choose_host(k);
    if (sw_launcher_first_rank())
        sw_settings_say_old();
    const sw_flavour_t *flavour = load_flavour();
    door.flavour = flavour ? flavour->name : "";
    const sw_hands_t *hands = flavour ? flavour->hands() : NULL;
    atomic_store_explicit(&door.hands, hands, memory_order_release);
    int ours = fill(flavour);
    if (sw_settings.verbose)
        sw_say("host %s, flavour %s, %d procedures "
               "pass through Straightway",
               door.host.path, flavour ? flavour->name : "none", ours);
    sw_heirs_part();
    if (flavour && sw_settings.enable && sw_settings.arena &&
        sw_os_page_size() != SW_PAGE && sw_launcher_first_rank())
        sw_say("this system's pages are of %zu KiB, and the arena needs pages "
               "of 4 KiB: large blocks stay private, messages stay with the "
               "MPI library",
               sw_os_page_size() / 1024);
}

void *sw_door_resolve(unsigned k)
{
    atomic_store_explicit(&door.opened, true, memory_order_relaxed);
    sw_start();
    if (!atomic_load_explicit(&door.bound, memory_order_acquire)) {
        pthread_mutex_lock(&door.lock);
        if (door.binding) {
            /* The host calls itself while the flavour binds: straight on. */
            void *to = door.host.path ? host_function(k) : NULL;
            pthread_mutex_unlock(&door.lock);
            if (!to)
                no_host(k);
            return to;
        }
        if (!atomic_load_explicit(&door.bound, memory_order_relaxed)) {
            door.binding = true;
            bind_host(k);
            door.binding = false;
            atomic_store_explicit(&door.bound, true, memory_order_release);
        }
        pthread_mutex_unlock(&door.lock);
    }

    void *to = atomic_load_explicit(&sw_slots[k], memory_order_acquire);
    if (to == (void *)(sw_thunks + (size_t)k * SW_STUB_STRIDE)) {
        char symbol[72];
        symbol_of(k, symbol);
        sw_say("%s was called, but %s does not have it. Use an MPI that has "
               "this procedure, or a program built for this one.",
               symbol, door.host.path);
        abort();
    }
    return to;
}
