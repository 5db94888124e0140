/*
 * os.h - the one door to the operating system.
 *
 * Every system service that Straightway uses beyond plain libc passes through
 * here, for two reasons. A second system is one more os_*.c file. And a test
 * can refuse each service. STRAIGHTWAY_REFUSE=memfd,cma makes the doors named
 * fail as a hardened container or an old kernel would (ENOSYS or EPERM).
 * STRAIGHTWAY_REFUSE=map:7 lets the first six calls pass, and refuses the
 * seventh and all later ones. A missing service costs speed, never
 * correctness: no caller may treat a failure here as fatal.
 *
 * Conventions: pointers and descriptors are returned directly; on failure
 * NULL or -1 with errno set. All functions are thread safe. Nothing in this
 * room allocates through malloc: the heap itself stands on it.
 */
#ifndef SW_NODE_OS_OS_H
#define SW_NODE_OS_OS_H

#include "node/base/base.h"

#include <pthread.h>

/* The services that can be refused, in the order of sw_os_door_names. */
typedef enum {
    SW_DOOR_MEMFD,  /* memfd_create */
    SW_DOOR_MAP,    /* mmap of shared memory */
    SW_DOOR_PEERFD, /* opening /proc/PID/fd/N of another process */
    SW_DOOR_CMA,    /* process_vm_readv, process_vm_writev */
    /* futex wait and wake: wait sleeps its timeout out, wake does nothing (a
     * lost wake-up) */
    SW_DOOR_FUTEX,
    /* MADV_HUGEPAGE, MADV_POPULATE_WRITE, and MADV_COLLAPSE */
    SW_DOOR_HUGE,
    SW_DOOR_PUNCH,    /* hole punching */
    SW_DOOR_TOPOLOGY, /* the machine's tables in /sys */
    SW_DOOR_THREAD,   /* a thread of our own */
    SW_DOOR_PAGE,     /* pages of 4 KiB: they are 64 KiB then */
    SW_DOOR_DUMP,     /* MADV_DONTDUMP, MADV_DODUMP */
    SW_DOOR_SHOW,     /* writing private pages to the arena's file */
    SW_DOOR_SHARE,    /* mapping the file over them */
    SW_DOOR_LINKER,   /* a look at the dynamic linker's own data */
    SW_DOOR_PLACE,    /* a look at which files are mapped where */
    SW_DOOR_ROOM,     /* room in the arena's common zone */
    SW_DOOR_TIMER,    /* a timer that sends a signal (beat.h) */
    SW_DOOR_HEAP,     /* memory for a call (temporary.h), or for epochs */
    SW_DOOR_ADVICE,   /* madvise, where it agrees to all and does nothing */
    SW_DOOR_LIBRARY,  /* loading a library */
    SW_DOOR_COUNT
} sw_door_t;

extern const char *const sw_os_door_names[SW_DOOR_COUNT];

/* True when the call at hand must be refused (counts calls for "name:n").
 * Only os_*.c and tests need to call it. */
SW_API bool sw_os_refused(sw_door_t door);

/* Memory ------------------------------------------------------------- */

/* A new unnamed shared-memory file, close-on-exec, size 0. */
SW_API int sw_os_memfd(const char *label);
/* Set the file's size (sparse: costs nothing until touched). Fails with EFBIG
 * above RLIMIT_FSIZE instead of raising SIGXFSZ. */
SW_API int sw_os_resize(int fd, size_t size);
/* Reserve address space: no memory, no access. `align` is a power of two. */
SW_API void *sw_os_reserve(size_t size, size_t align);
/* Map a shared file read-write. `at` NULL: anywhere; else exactly there,
 * replacing what is mapped. Core dumps leave the mapping out until
 * sw_os_dump lets it in. */
SW_API void *sw_os_map_shared(void *at, size_t size, int fd, size_t offset);
/* Map fresh private zeroed memory; `at` as above. */
SW_API void *sw_os_map_private(void *at, size_t size);
SW_API void sw_os_unmap(void *p, size_t size);
/* Does madvise do what it agrees to? An emulator of processors (qemu-user)
 * agrees to all advice, even to one that there is not, and ignores most. */
bool sw_os_heeds_advice(void);
/* Ask for huge pages at first touch (advice); returns 0 where accepted. */
SW_API int sw_os_huge_advice(void *p, size_t size);
/* Make the pages of a mapping, huge ones where it asks for them (Linux 5.14).
 * 0, or -1: some are not there. */
SW_API int sw_os_populate(void *p, size_t size);
/* Make resident memory huge now (MADV_COLLAPSE, Linux 6.1). */
SW_API int sw_os_huge_collapse(void *p, size_t size);
/* Give a shared range's memory back to the system; it reads as zeros after. */
SW_API int sw_os_punch(int fd, void *p, size_t offset, size_t size);

/* Let a range into core dumps, or leave it out (advice). To write a shared
 * range into a dump, the system allocates its untouched pages. */
SW_API int sw_os_dump(void *p, size_t size, bool in);

/* Memory that was reserved, or closed, may be read and written. 0, or -1. */
SW_API int sw_os_open(void *p, size_t size);
/* Drop private memory and forbid access to it: address space is all it
 * takes. 0, or -1. */
SW_API int sw_os_close(void *p, size_t size);
/* Make private pages the file's: write their content there, and map the file in
 * their place. 0, or -1: then they are as they were. */
SW_API int sw_os_show(int fd, void *p, size_t size, size_t offset);

/* mlock all mappings that can be touched, but those that `leave` picks:
 * our_file is true for mappings of this library's files. 0, or -1. */
SW_API int sw_os_lock_mappings(bool (*leave)(uintptr_t low, uintptr_t high,
                                             bool our_file));
/* The program has asked that memory is locked as it comes. */
SW_API extern bool sw_os_locks_future;

/* NUMA. How many nodes have memory; on which each of `pages` pages lies (less
 * than 0: none, or not told): 0, or -1. */
SW_API int sw_os_memory_nodes(void);
SW_API int sw_os_nodes_of(const void *p, size_t pages, int *node);
/* The calling thread's new pages are to lie on a node; -1: as before the first
 * such call. Not to be nested. 0, or -1. */
SW_API int sw_os_prefer_node(int node);

/* Pages have no policy of their own any more. */
SW_API void sw_os_no_policy(void *p, size_t size);
/* Pages of this process that are pinned, for a card or for the kernel; 0, too,
 * where the system does not tell. Opens a file. */
SW_API uint64_t sw_os_pinned(void);

/* Has the machine network cards that pages are pinned for? Opens a folder. */
SW_API bool sw_os_has_cards(void);

/* Replace shared pages by private ones with the same contents. 0, or -1. */
SW_API int sw_os_unshare(void *p, size_t size);

/* Fresh private zeroed memory like sw_os_map_private, but nothing is charged
 * against the commit limit before it is touched. */
SW_API void *sw_os_map_lazy(void *at, size_t size);
/* Give private memory back to the system; it reads as zeros after. */
SW_API int sw_os_discard(void *p, size_t size);
/* Move exactly n bytes between memory and a file; 0, or -1. */
SW_API int sw_os_read_at(int fd, void *to, size_t n, size_t offset);
SW_API int sw_os_write_at(int fd, const void *from, size_t n, size_t offset);
/* Narrow [*from, *to) of a file to its first run of data (what was never
 * touched is a hole); false when there is none. */
SW_API bool sw_os_next_data(int fd, size_t *from, size_t *to);
/* Move a mapping away from where it is; returns its new place, or NULL. */
SW_API void *sw_os_move(void *p, size_t size);
/* Move private pages to other private memory, instead of what is there; where
 * they were reads as zeros after. 0, or -1: they are where they were, and what
 * was there may read as zeros. */
SW_API int sw_os_move_pages(void *from, void *to, size_t size);
/* The descriptor moved to a high number, out of the way of programs that
 * expect the low ones; the same one if that fails. */
SW_API int sw_os_high_fd(int fd);
/* Which file a descriptor is of; all zeros if it is closed. */
typedef struct {
    uint64_t device, inode;
} sw_file_id_t;
SW_API sw_file_id_t sw_os_file_id(int fd);
static inline bool sw_same_file(sw_file_id_t a, sw_file_id_t b)
{
    return a.device == b.device && a.inode == b.inode;
}
/* Which of `pages` private pages at `at` were ever written or read: one byte
 * each. Returns -1 if the system does not tell. */
SW_API int sw_os_touched(const void *at, size_t pages, unsigned char *touched);
/* A place in a file, alike for all processes that have it mapped. */
typedef struct {
    uint64_t device, inode, name, offset; /* `name`: a hash */
} sw_os_place_t;
/* Where [p, p+n) of a process lies (0: of this one), if it is a shared mapping
 * of one file that the process may read and write. n > 0. */
SW_API bool sw_os_place(pid_t pid, const void *p, size_t n, sw_os_place_t *to);
/* Where this process has mapped each of n such places, bytes[i] long; NULL:
 * nowhere. One with bytes[i] == 0 is not looked for. Both read a whole list of
 * mappings. */
SW_API void sw_os_find_places(const sw_os_place_t *place, const uint64_t *bytes,
                              int n, void **at);
/* The calling thread's stack, [*low, *high); false if the system does not tell.
 * (The thread may still run on another one: a coroutine's, a signal's.) */
SW_API bool sw_os_stack(uintptr_t *low, uintptr_t *high);
/* Can the aligned word at p be read? Asks the kernel: some 100 ns. Safe in a
 * signal handler. */
SW_API bool sw_os_readable(const void *p);
/* Does the aligned word at p hold this value? False, too, where there is no
 * memory, or where the system does not compare. Some 100 ns. */
SW_API bool sw_os_word_is(const void *p, uint32_t value);
/* True when [start, start+size) is all private, readable and writable. */
SW_API bool sw_os_is_private_rw(const void *start, size_t size);
SW_API size_t sw_os_address_used(void); /* bytes of address space in use */
SW_API int sw_os_threads(void);         /* of this process; 0: unknown */

/* Other processes ---------------------------------------------------- */

/* Open another process's descriptor through /proc, if it is still of `file`:
 * a program may have closed it and opened its own at that number, which must
 * not even be opened (a device may act on that). Needs the same user and a
 * common view of process ids. A file of the same identity may belong to
 * another system's process: the caller must verify what it finds. */
SW_API int sw_os_peer_fd(pid_t pid, int fd, sw_file_id_t file);
/* Cross-memory attach: copy `n` bytes between this process and `pid`.
 * Return 0, or -1 with errno; partial transfers are continued inside. */
SW_API int sw_os_cma_read(pid_t pid, void *to, uint64_t from, size_t n);
SW_API int sw_os_cma_write(pid_t pid, uint64_t to, const void *from, size_t n);
/* The same between n pieces of the other process's memory, one after another,
 * and memory of this one where they lie side by side. EFAULT: not all of it is
 * there; some may have moved. */
typedef struct {
    uint64_t at;
    size_t bytes;
} sw_os_piece_t;
SW_API int sw_os_cma_pieces(pid_t pid, bool write, void *local,
                            const sw_os_piece_t *piece, int n);
/* When a process was started, in ticks since boot: 1; 0 where no process has
 * that number, or it has ended; -1: the system does not tell. */
SW_API int sw_os_process_start(pid_t pid, uint64_t *start);
/* Does a thread of another process sleep, or is there no such thread: 1, 0; -1:
 * the system does not tell. */
SW_API int sw_os_thread_sleeps(pid_t pid, pid_t thread);
/* How often the calling thread has given up its core to wait for something. */
SW_API uint64_t sw_os_waits(void);
/* The calling thread's use of its core: ns it has run, and how often it has
 * lost the core - by waiting, or because the system has taken the core. */
typedef struct {
    uint64_t ran, waits, taken;
} sw_os_core_t;
SW_API sw_os_core_t sw_os_core(void);
SW_API pid_t sw_os_thread_id(void);
/* As getpid, for a load; in a child that was forked, too. */
SW_API pid_t sw_os_pid(void);
/* Yama scope 1: let any process of this user attach, and so trace this one. */
SW_API int sw_os_allow_attach(void);

/* Loaded objects ------------------------------------------------------ */

/* How many objects the dynamic linker has loaded so far, those that are closed
 * again included. Takes its lock: some 10 ns. */
SW_API uint64_t sw_os_loads(void);
/* The same; and a handle for each of `n` libraries whose file name begins with
 * stem[i]: NULL where it is not loaded. Loads nothing; a library that it finds
 * stays until the process ends. */
SW_API uint64_t sw_os_libraries(const char *const *stem, void **handle, int n);
/* Load a library, by its path or as the dynamic linker finds the name. It stays
 * until the process ends. NULL: there is none. */
SW_API void *sw_os_load(const char *name);
SW_API void *sw_os_symbol(void *handle, const char *name);
/* The dynamic linker's own data, *words 64-bit words; NULL where it is not
 * shown. *list is the word that holds the list of loaded objects. */
SW_API const uint64_t *sw_os_linker_data(size_t *words, size_t *list);

/* Time, waiting, the machine ------------------------------------------ */

SW_API uint64_t sw_os_now(void); /* monotonic, ns */
SW_API void sw_os_yield(void);
SW_API void sw_os_nap(uint64_t ns);
/* Sleep while *word == value, at most `ns`. Shared between processes. */
SW_API void sw_os_futex_wait(_Atomic uint32_t *word, uint32_t value,
                             uint64_t ns);
SW_API void sw_os_futex_wake_all(_Atomic uint32_t *word);
SW_API void sw_os_random(void *to, size_t n);
/* A number that no process has drawn before, in all likelihood: no system call
 * after the first. No secret: it follows from those before. */
SW_API uint64_t sw_os_unique(void);
/* A thread that takes no signals. 0, or -1. */
SW_API int sw_os_thread(pthread_t *thread, void *(*run)(void *));
/* It may run where the calling thread may. */
SW_API void sw_os_thread_follow(pthread_t thread);
/* Processors this process may run on, as a bit mask; returns how many there
 * are, at least 1. `words` of 64 bits, at most all: bits beyond are dropped. */
#define SW_OS_CPU_WORDS 128 /* 8192 processors */
SW_API int sw_os_affinity(uint64_t *mask, int words);

/* Processors' worth of time that the control groups of this process grant it;
 * 0: they set no limit. Opens files. Refused by SW_DOOR_TOPOLOGY. */
SW_API double sw_os_quota(void);
/* The same with SW_OS_CPU_WORDS, and next to nothing of the stack. */
SW_API int sw_os_affinity_all(uint64_t *mask);
SW_API size_t sw_os_memory_total(void); /* bytes of RAM, or cgroup */
SW_API size_t sw_os_page_size(void);
SW_API size_t sw_os_address_limit(void); /* RLIMIT_AS, SIZE_MAX: none */
/* Read a small text file (e.g. under /sys) into `to`; NUL-terminated.
 * Returns its length, or -1. Refused by SW_DOOR_TOPOLOGY. */
SW_API int sw_os_read_text(const char *path, char *to, size_t room);
/* A name for machines of one kind: of the processor's model, how many there
 * are, and the kernel's release. Alike in all processes of a machine. */
enum { SW_OS_MACHINE = 9 };
SW_API void sw_os_machine(char to[SW_OS_MACHINE]);
/* Files by name. No other user must be able to choose what they are: see
 * os_files.c. Each call opens for writing, or returns -1. */
/* Opens a file to append, and makes it if it is missing. EPERM: another user
 * may have put it there. Safe in a signal handler. */
SW_API int sw_os_open_append(const char *path);
/* Has something this name, or does a link of this name lead to something, that
 * is no regular file? A device, for example, or a folder. */
SW_API bool sw_os_is_special(const char *path);
/* Makes a new file, in place of any other of that name. EEXIST: it is special.
 */
SW_API int sw_os_open_new(const char *path);
/* Makes a new file beside `path`, and stores its name, which no user can guess,
 * in `draft`. SW_OS_DRAFT bytes more than `path` has are room enough. EEXIST:
 * `path`, whose place the file is to take, is special. */
#define SW_OS_DRAFT 32
SW_API int sw_os_open_draft(const char *path, char *draft, size_t room);
/* Make a folder that only this user can look into; true, too, where it is one
 * already. */
SW_API bool sw_os_private_folder(const char *path);
/* As write, for all n bytes: 0, or -1. A limit on the size of files is an
 * error, and does not end the process. Safe in a signal handler. */
SW_API int sw_os_write_all(int fd, const void *bytes, size_t n);
/* The environment, for a process that is started, less the variables that
 * begin with one of `without` (up to NULL). For free(); NULL: no memory. */
SW_API char **sw_os_environment_without(const char *const *without);

/* One spin of a wait loop. */
static inline void sw_os_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* This cache line was written for another core: a processor that can moves it
 * to the cache that both share (cldemote). To others it is a no-operation. */
static inline void sw_os_hand_line(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("cldemote %0" ::"m"(*(const char *)line));
#else
    (void)line;
#endif
}

#endif
