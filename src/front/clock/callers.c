/*
 * callers.c - see callers.h.
 *
 * The objects that are not the program's stand in a table of addresses. Each
 * thread remembers some pages of code, and looks into the table for others.
 * Before that look it asks whether objects have come since, and makes the table
 * anew if so.
 *
 * Signal handlers read the table, too, without a lock: its number is odd while
 * a thread writes it, and another one afterwards. The writer has all signals
 * blocked, so no reader ever waits for a writer beneath it. Nothing here
 * allocates from the heap, for heaps read clocks.
 */
#include "callers.h"
#include "front/objects/elf.h"
#include "front/objects/hosts.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define MOST 1024u /* objects of MPI's and ours */
#define PAGES 16u

typedef struct {
    uintptr_t from, to;
} range_t;

static struct {
    _Atomic uint32_t version; /* odd: being written */
    _Atomic uint32_t count;
    _Atomic uint64_t generation; /* of the list of objects */
    pthread_mutex_t lock;
    range_t range[MOST];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Pages, with the table's version, and whose they are in the lowest bit. */
typedef struct {
    uintptr_t page;
    uint32_t version;
    bool program;
} seen_t;
static _Thread_local seen_t seen[PAGES]
    __attribute__((tls_model("initial-exec")));

/* What is loaded -------------------------------------------------------- */

typedef enum { PROGRAM, EVERYBODY, OURS, HOST, MPI } owner_t;

typedef struct {
    sw_object_t is;
    uintptr_t from, to;
    owner_t owner;
    bool reached; /* what it needs is settled */
} object_t;

typedef struct {
    object_t *at;
    size_t count, room;
    const uintptr_t *before; /* bases that were there; NULL: all were */
    size_t before_count;
    bool later; /* not the first time */
} list_t;

static bool (*is_host)(const sw_object_t *object);
static uintptr_t *before;
static size_t before_count, before_room;

static int count_object(const sw_object_t *object, void *context)
{
    ++*(size_t *)context;
    return 0;
}

static void extent(const sw_object_t *object, uintptr_t *from, uintptr_t *to)
{
    *from = UINTPTR_MAX;
    *to = 0;
    for (int i = 0; i < object->phnum; i++) {
        const ElfW(Phdr) *p = &object->phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t at = object->base + p->p_vaddr;
        *from = sw_min(*from, at);
        *to = sw_max(*to, at + p->p_memsz);
    }
}

static bool everybodys(const sw_object_t *object)
{
    static const char *const names[] = {
        "ld-linux*",   "ld64*",           "linux-vdso*",     "libc.so*",
        "libm.so*",    "libpthread.so*",  "libdl.so*",       "librt.so*",
        "libutil.so*", "libresolv.so*",   "libgcc_s.so*",    "libstdc++.so*",
        "libc++*.so*", "libgfortran.so*", "libquadmath.so*", "libgomp.so*",
        "libomp.so*",  "libiomp5.so*",    "libatomic.so*",   "libpython*.so*",
        "libasan.so*", "libtsan.so*",     "libubsan.so*",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fnmatch(names[i], object->soname, 0) == 0)
            return true;
    return false;
}

static int add_object(const sw_object_t *object, void *context)
{
    list_t *list = context;
    if (list->count == list->room)
        return 1;
    object_t *o = &list->at[list->count++];
    *o = (object_t){.is = *object};
    extent(object, &o->from, &o->to);
    if (sw_object_holds(object, (const void *)add_object) ||
        !strncmp(object->soname, "libstraightway-", 15))
        o->owner = OURS;
    else if (!object->path[0])
        o->owner = PROGRAM;
    else if (is_host(object))
        o->owner = HOST;
    else if (everybodys(object))
        o->owner = EVERYBODY;
    return 0;
}

/* By the name that the object which needs it says. */
static object_t *named(list_t *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        const sw_object_t *o = &list->at[i].is;
        const char *slash = strrchr(o->path, '/');
        if (!strcmp(o->soname, name) || (slash && !strcmp(slash + 1, name)) ||
            !strcmp(o->path, name))
            return &list->at[i];
    }
    return NULL;
}

/* The next object that this one needs, from an entry on; NULL: no more. */
static object_t *needed(list_t *list, const object_t *o, const ElfW(Dyn) **at)
{
    for (object_t *it; (*at)->d_tag != DT_NULL;) {
        const ElfW(Dyn) *d = (*at)++;
        if (d->d_tag == DT_NEEDED &&
            (it = named(list, o->is.strings + d->d_un.d_val)))
            return it;
    }
    return NULL;
}

/* Mark what an object of MPI's needs. */
static void reach(list_t *list, object_t *o)
{
    const ElfW(Dyn) *at = o->is.dynamic;
    o->reached = true;
    for (object_t *it; (it = needed(list, o, &at));)
        if (it->owner == PROGRAM && it->is.path[0])
            it->owner = MPI;
}

static bool needs_mpis(list_t *list, const object_t *o)
{
    const ElfW(Dyn) *at = o->is.dynamic;
    for (object_t *it; (it = needed(list, o, &at));)
        if (it->owner == MPI)
            return true;
    return false;
}

static bool was_there(const list_t *list, uintptr_t base)
{
    for (size_t i = 0; i < list->before_count; i++)
        if (list->before[i] == base)
            return true;
    return false;
}

/* Of those that the table had already. */
static bool is_ranged(const object_t *o)
{
    uint32_t n = atomic_load_explicit(&table.count, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (table.range[i].from == o->from && table.range[i].to == o->to)
            return true;
    return false;
}

static void settle(list_t *list)
{
    bool later = list->later;
    for (size_t i = 0; i < list->count; i++) {
        object_t *o = &list->at[i];
        if (o->owner == PROGRAM && o->is.path[0] &&
            (later ? is_ranged(o) : !was_there(list, o->is.base)))
            o->owner = MPI;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < list->count; i++) {
            object_t *o = &list->at[i];
            if (later && o->owner == PROGRAM && o->is.path[0] &&
                !was_there(list, o->is.base) && needs_mpis(list, o))
                o->owner = MPI;
            if (o->owner < HOST || o->reached)
                continue;
            reach(list, o);
            more = true;
        }
    }
}

/* The table ------------------------------------------------------------- */

static void write_table(const list_t *list)
{
    uint32_t n = 0;
    bool full = false;
    atomic_fetch_add(&table.version, 1);
    for (size_t i = 0; i < list->count; i++) {
        const object_t *o = &list->at[i];
        if (o->owner < OURS)
            continue;
        if (n == MOST) {
            full = true;
            break;
        }
        table.range[n++] = (range_t){o->from, o->to};
    }
    atomic_store(&table.count, n);
    atomic_fetch_add(&table.version, 1);
    if (full)
        sw_say("the MPI library consists of more than %u objects: some may "
               "see virtual time",
               MOST);
}

/* Names and needs are read where objects lie. A walk keeps them from being
 * unloaded, and may be begun again within one; so all is done at the first
 * object of an outer one. */
static int make_held(const sw_object_t *object, void *context)
{
    list_t *list = context;
    sw_objects_walk(add_object, list);
    settle(list);
    write_table(list);
    return 1;
}

static void make(bool later)
{
    size_t n = 0;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    if (pthread_mutex_trylock(&table.lock)) {
        /* Another thread makes it: what there is will do until then. */
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        return;
    }
    uint64_t generation = sw_objects_generation();
    if (!later || generation != atomic_load(&table.generation)) {
        sw_objects_walk(count_object, &n);
        n += 16; /* what comes meanwhile */
        list_t list = {.room = n,
                       .before = before,
                       .before_count = before_count,
                       .later = later};
        list.at = sw_os_map_private(NULL, n * sizeof *list.at);
        if (list.at) {
            sw_objects_walk(make_held, &list);
            sw_os_unmap(list.at, n * sizeof *list.at);
        }
        atomic_store(&table.generation, generation);
    }
    pthread_mutex_unlock(&table.lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int note_base(const sw_object_t *object, void *context)
{
    if (before_count < before_room)
        before[before_count++] = object->base;
    return 0;
}

void sw_callers_start(bool (*host)(const sw_object_t *object))
{
    is_host = host;
}

void sw_callers_before(void)
{
    size_t n = 0;
    if (before)
        return;
    sw_objects_walk(count_object, &n);
    n += 16;
    before = sw_os_map_private(NULL, n * sizeof *before);
    before_room = before ? n : 0;
    sw_objects_walk(note_base, NULL);
}

void sw_callers_after(void)
{
    make(false);
}

void sw_callers_closed(void)
{
    atomic_fetch_add(&table.version, 2);
}

/* In the table? */
static bool listed(uintptr_t at)
{
    for (;;) {
        bool found = false;
        uint32_t version = atomic_load(&table.version);
        uint32_t n = atomic_load(&table.count);
        if (version & 1) {
            sw_os_pause();
            continue;
        }
        for (uint32_t i = 0; i < n && i < MOST && !found; i++)
            found = at >= table.range[i].from && at < table.range[i].to;
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load(&table.version) == version)
            return found;
    }
}

static __attribute__((noinline)) bool look(uintptr_t at, seen_t *to)
{
    if (sw_objects_generation() != atomic_load(&table.generation))
        make(true);
    uint32_t version = atomic_load(&table.version);
    bool program = !listed(at);
    /* A signal's handler may write it, too: never half of two. */
    to->page = 0;
    atomic_signal_fence(memory_order_seq_cst);
    to->version = version;
    to->program = program;
    atomic_signal_fence(memory_order_seq_cst);
    to->page = at / SW_PAGE;
    return program;
}

bool sw_callers_program(const void *from)
{
    uintptr_t at = (uintptr_t)from, page = at / SW_PAGE;
    seen_t *s = &seen[page % PAGES];
    bool program = s->program;
    if (sw_likely(s->page == page &&
                  s->version == atomic_load_explicit(&table.version,
                                                     memory_order_relaxed)))
        return program;
    return look(at, s);
}
