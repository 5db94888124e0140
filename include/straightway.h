/*
 * straightway.h - the calls that MPI lacks.
 *
 * A program includes this header and makes the calls that it needs:
 *
 *     #include <straightway.h>
 *
 *     straightway_region_begin("solver");
 *     solve();
 *     straightway_region_end("solver");
 *
 * The program links with nothing. Under `straightway run` (and profile, whatif,
 * study) the preloaded library carries the calls out. Without the library each
 * call does nothing and costs a load and a branch; the value that it then
 * returns stands beside it. A statically linked program may call them, too: no
 * library can be preloaded there, so they do nothing.
 *
 * C99 or later, C++11 or later, gcc or clang, on Linux. No MPI type and no MPI
 * header is needed. Fortran reaches the calls through a few lines of C
 * (docs/profile.md), or MPI_Pcontrol for regions with numbers.
 */
#ifndef STRAIGHTWAY_H
#define STRAIGHTWAY_H

/* The version of this header. STRAIGHTWAY_VERSION grows with every release:
 * 10203 is version 1.2.3. */
#define STRAIGHTWAY_VERSION_MAJOR 0
#define STRAIGHTWAY_VERSION_MINOR 1
#define STRAIGHTWAY_VERSION_PATCH 0
#define STRAIGHTWAY_VERSION                                                \
    (STRAIGHTWAY_VERSION_MAJOR * 10000 + STRAIGHTWAY_VERSION_MINOR * 100 + \
     STRAIGHTWAY_VERSION_PATCH)

/* The names of the calls and their types, for a program that looks them up
 * with dlsym(RTLD_DEFAULT, ...). dlsym returns NULL where the library is not
 * preloaded. */
#define STRAIGHTWAY_VERSION_SYMBOL "straightway_version"
#define STRAIGHTWAY_ACCELERATE_SYMBOL "straightway_accelerate"
#define STRAIGHTWAY_REGION_BEGIN_SYMBOL "straightway_region_begin"
#define STRAIGHTWAY_REGION_END_SYMBOL "straightway_region_end"
#define STRAIGHTWAY_PROFILE_SYMBOL "straightway_profile"
typedef int (*straightway_version_func_t)(void);
typedef int (*straightway_accelerate_func_t)(int on);
typedef void (*straightway_region_func_t)(const char *name);
typedef int (*straightway_profile_func_t)(int on);

/*
 * A call finds the library by a weak symbol, which is NULL where nothing is
 * preloaded. In an executable at a fixed address (-no-pie) the compiler would
 * write a weak symbol's address into the code. The linker would make that
 * address NULL for ever. So the call loads the address from the global offset
 * table, which the dynamic linker fills, whatever options the compiler had.
 *
 * The library itself defines STRAIGHTWAY_LIBRARY and gets plain declarations.
 */
#ifdef STRAIGHTWAY_LIBRARY
#define STRAIGHTWAY_CALL_(result, call, parameters, library) \
    result straightway_##call parameters;
#else
#if defined(__x86_64__) && defined(__LP64__)
#define STRAIGHTWAY_FIND_(to, call)                          \
    __asm__(".weak straightway_" #call "\n\t"                \
            "movq straightway_" #call "@GOTPCREL(%%rip), %0" \
            : "=r"(to))
#elif defined(__aarch64__) && defined(__LP64__) && \
    !defined(__AARCH64_CMODEL_TINY__)
#define STRAIGHTWAY_FIND_(to, call)                         \
    __asm__(".weak straightway_" #call "\n\t"               \
            "adrp %0, :got:straightway_" #call "\n\t"       \
            "ldr %0, [%0, :got_lo12:straightway_" #call "]" \
            : "=r"(to))
#else
/* There is no library for other machines. */
#define STRAIGHTWAY_FIND_(to, call) ((to) = 0)
#endif
/* The inline function has another name for the assembler, so that it cannot
 * be taken for the library's. */
#define STRAIGHTWAY_CALL_(result, call, parameters, library)    \
    static inline result straightway_##call parameters __asm__( \
        "straightway_inline_" #call);                           \
    static inline result straightway_##call parameters          \
    {                                                           \
        result(*found) parameters;                              \
        STRAIGHTWAY_FIND_(found, call);                         \
        library                                                 \
    }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * straightway_version() returns the version of the preloaded library, a number
 * like STRAIGHTWAY_VERSION, or 0 where none is preloaded. Any thread may call
 * it at any time.
 */
STRAIGHTWAY_CALL_(int, version, (void), return found ? found() : 0;)

/*
 * straightway_accelerate(on) switches acceleration on (1) or off (0) for all
 * communicators of this process, from the next MPI call on. A negative `on`
 * only asks. It returns the state before (1 or 0). It returns -1 and does
 * nothing where there is nothing to switch: the library is not preloaded, the
 * process has made no MPI call yet, or this MPI cannot be served.
 *
 * The call does not communicate, and takes some nanoseconds. All ranks of a
 * communicator must switch at one point: between the same two collective calls,
 * messages, and calls that initialize partitioned messages. For the paths of
 * the MPI and of Straightway do not meet. When a rank switches, no message of
 * its communicators may be under way, and no receive posted. No other thread of
 * the process may be inside an MPI call.
 */
STRAIGHTWAY_CALL_(int, accelerate, (int on), return found ? found(on) : -1;)

/*
 * straightway_region_begin(name) begins a region: a part of the program that
 * the reports of `straightway profile` and `straightway whatif` show apart.
 * The library copies `name`. It ignores NULL and the empty string.
 *
 * Regions nest. They belong to the process, not to a thread: where several
 * threads begin and end regions, the program must order these calls itself.
 * The call does nothing where the library is not preloaded, or where nothing
 * is profiled or predicted. MPI_Pcontrol(n), n > 1, begins the region
 * "phase n".
 */
STRAIGHTWAY_CALL_(void, region_begin, (const char *name),
                  if (found) found(name);)

/*
 * straightway_region_end(name) ends the region that was begun last. `name` is
 * that region's name, or NULL for whichever it is. Threads, and when the call
 * does nothing: as with straightway_region_begin. MPI_Pcontrol(-n), n > 1,
 * ends the region "phase n".
 */
STRAIGHTWAY_CALL_(void, region_end, (const char *name), if (found) found(name);)

/*
 * straightway_profile(on) switches the recording of a profile on (1) or off
 * (0) in this process. A negative `on` only asks. It returns the state before
 * (1 or 0). It returns -1 and does nothing where the library is not preloaded,
 * nothing is profiled, or the profile has not begun: it begins at the end of
 * MPI_Init.
 *
 * The call does not communicate. Any thread may make it; it holds for all of
 * them. MPI_Pcontrol(1) and MPI_Pcontrol(0) do the same.
 */
STRAIGHTWAY_CALL_(int, profile, (int on), return found ? found(on) : -1;)

#ifdef __cplusplus
}
#endif

#undef STRAIGHTWAY_CALL_

#endif
