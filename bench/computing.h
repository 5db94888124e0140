/*
 * computing.h - calls as a program makes them: not one after the other, but
 * after it has computed.
 *
 * What is sent has just been written, what was received is read, other memory
 * was gone through meanwhile, and the library's own lines have left the caches
 * to the same degree. Then all ranks begin at the same moment, which they
 * agreed upon before they computed: meeting in MPI would bring the library's
 * lines back.
 */
#ifndef SW_BENCH_COMPUTING_H
#define SW_BENCH_COMPUTING_H

#include <stdbool.h>
#include <stddef.h>

/* Memory of so many bytes to go through, on all ranks; false: there is none. */
bool sw_computing_prepare(size_t bytes);
/* Compute on what is written and read next, and wait for the moment: it. */
double sw_computing(void *sent, size_t sent_bytes, const void *received,
                    size_t received_bytes);

#endif
