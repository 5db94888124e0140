/*
 * standin.h - the manual of a libcuda.so.1 for tests.
 *
 * The library answers as the driver of hardware/h200.txt does, and keeps the
 * driver's promises no better than the driver does:
 *
 *   - Device memory faults when the processor touches it. The kernels of
 *     src/device/ run on the processor, and reach it by another mapping.
 *   - Each stream is a thread. A copy that waits for no event has stale bytes.
 *   - The default stream waits for the other streams, and they for it, except
 *     for those that were made as non-blocking.
 *   - What CUDA lets a copy do later, the library does later: it reads pinned
 *     memory when the copy runs, and pageable memory when the call is made.
 *   - Memory that another process has open lives on after its owner's end.
 *
 * Any image is a module. A module has every kernel by its name: those of
 * src/device/, of hardware/probe.cu, and standin_touch(address), which stores
 * one byte. There is no default stream for each thread (2).
 *
 * Faults
 *
 * A fault is an error of the program that hardware would punish, at once or one
 * day:
 *
 *   - memory that was freed, or that no allocation holds
 *   - a kernel that leaves its allocations by one byte, or an unaligned unit
 *   - a stream, event, module or function that does not exist
 *   - memory, a function or an event of another context
 *
 * Each is one line on stderr. Then the process aborts. With
 * STANDIN_FAULTS=count it goes on. After a fault of a kernel or of a copy under
 * way, the context answers each later call with the code, as CUDA's do.
 *
 * The environment, read at the first call of a process
 *
 *   STANDIN_REFUSE=CALL[:N[:CODE]],...   refuse a call from its Nth time on
 *                  (1), or with =N that time only, with a code (999). CALL is a
 *                  symbol with or without _v2, or * for all calls together.
 *   STANDIN_DELAY=MICROSECONDS   so long each operation waits before it runs
 *   STANDIN_FAULTS=abort|count   what a fault does (abort)
 *   STANDIN_LOG=FILE             gets a line for each call and each fault
 *   STANDIN_REUSE=1              a large block takes the address of the one
 *                  freed last, as the driver's do; else no address comes again
 *   STANDIN_DEVICES=N            so many devices (1)
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

/* So often has the program made this call; NULL: all calls together. */
uint64_t standin_count(const char *call);
uint64_t standin_faults(void);

/* Let no operation begin, once those that run have ended; let them go on. In
 * between, a call that waits for an operation does not return. */
void standin_hold(void);
void standin_release(void);

/* Memory of device 0's primary context, which this call makes where need be, or
 * managed memory. The calling thread's current context stays as it is. */
void *standin_allocate(size_t bytes, int managed);
/* Where the processor finds a byte of any memory that the driver knows. */
void *standin_alias(const void *device);

#endif
