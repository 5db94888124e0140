/*
 * straightway.h - the few calls that MPI lacks.
 *
 * A program need not be built against Straightway, nor linked with it: the
 * library comes in by LD_PRELOAD (`straightway run`). A program that wants to
 * talk to it asks whether it is there:
 *
 *     #include <dlfcn.h>
 *     #include <straightway.h>
 *
 *     straightway_accelerate_func_t accelerate =
 *         (straightway_accelerate_func_t)
 *         dlsym(RTLD_DEFAULT, STRAIGHTWAY_ACCELERATE_SYMBOL);
 *     int before = accelerate ? accelerate(0) : -1;
 *
 * dlsym returns NULL where the library is not preloaded; the program then
 * simply runs on its MPI.
 */
#ifndef STRAIGHTWAY_H
#define STRAIGHTWAY_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Turn acceleration on (1) or off (0) for all communicators of this process,
 * from the next MPI call on; a negative value only asks. Returns the state
 * before, or -1 when there is nothing to switch: no MPI call was made yet, or
 * this MPI cannot be served.
 *
 * Collective in meaning: all ranks of a communicator must switch between the
 * same two of their collective calls, since the paths of the host and of
 * Straightway do not meet. No MPI call may be in progress in another thread
 * of the process. It takes a few nanoseconds and does not communicate.
 *
 * Off, receives are still looked at when they complete, because a message may
 * have been sent while acceleration was on. STRAIGHTWAY_ALONE spares the host
 * that, too: for benchmarks. When any rank switches to it or from it, no
 * message may be under way and no receive posted in the whole job.
 */
#define STRAIGHTWAY_ALONE 2
int straightway_accelerate(int on);

#define STRAIGHTWAY_ACCELERATE_SYMBOL "straightway_accelerate"
typedef int (*straightway_accelerate_func_t)(int on);

/*
 * For programs that are profiled (`straightway profile`, or run --profile), or
 * forecast (`straightway whatif`).
 *
 * A region is a part of the program that a report shows apart. Regions nest;
 * they belong to the process, not to a thread. `name` is copied; an end names
 * the region that was begun last, or NULL for whichever that is. Where nothing
 * is profiled nor forecast, both do nothing. MPI_Pcontrol(n) and
 * MPI_Pcontrol(-n), n > 1, begin and end the region "phase n".
 */
void straightway_region_begin(const char *name);
void straightway_region_end(const char *name);

#define STRAIGHTWAY_REGION_BEGIN_SYMBOL "straightway_region_begin"
#define STRAIGHTWAY_REGION_END_SYMBOL "straightway_region_end"
typedef void (*straightway_region_func_t)(const char *name);

/*
 * Switch recording on (1) or off (0) in this process; a negative value only
 * asks. Returns the state before, or -1 where nothing is profiled, or not yet:
 * a profile begins at the end of MPI_Init. MPI_Pcontrol(1) and
 * MPI_Pcontrol(0) do the same.
 */
int straightway_profile(int on);

#define STRAIGHTWAY_PROFILE_SYMBOL "straightway_profile"
typedef int (*straightway_profile_func_t)(int on);

#ifdef __cplusplus
}
#endif

#endif
