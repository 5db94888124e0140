/*
 * remap.h - messages of bench pingpong by page tables: the receiver maps the
 * sender's pages copy-on-write, instead of copying what they hold.
 *
 *     sender's file   [ the message ]
 *       |  shared     |  private          |  private
 *       the way in    the sender's view   the receiver's view
 *
 * After a message both have private views. A rank that writes to a page of
 * its view gets a copy of that page. The file keeps what was sent. A sender
 * that has written to its view copies the view into the file before it sends
 * again.
 *
 * Straightway sends no message so. The benchmark shows why
 * (docs/how-it-works.md).
 */
#ifndef SW_BENCH_REMAP_H
#define SW_BENCH_REMAP_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct sw_remap sw_remap_t;

/* Files for messages of so many bytes, on all ranks, which are on one node;
 * `huge`: of huge pages. NULL, on all: the system refuses, or gives a rank no
 * huge pages of shared memory. */
sw_remap_t *sw_remap_bind(size_t bytes, bool huge, int partner, MPI_Comm comm);
void sw_remap_free(sw_remap_t *r);

/* Where the next message is written, and where the last one came. */
unsigned char *sw_remap_view(const sw_remap_t *r);
unsigned char *sw_remap_arrived(const sw_remap_t *r);

/* One message. `written`: the sender has written to its view since it last
 * sent. An MPI error, or 0. */
int sw_remap_send(const sw_remap_t *r, bool written);
int sw_remap_receive(const sw_remap_t *r);

#endif
