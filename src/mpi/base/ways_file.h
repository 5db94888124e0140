/*
 * ways_file.h - the file of ways (coll/ways.h), as this process has read it.
 *
 * The first call reads it, and rank 0 of MPI_COMM_WORLD says what is wrong with
 * it. Other processes may have read another file, or another version of it:
 * each table has a hash, by which ranks find out whether theirs are the same.
 */
#ifndef SW_MPI_BASE_WAYS_FILE_H
#define SW_MPI_BASE_WAYS_FILE_H

#include "coll/ways.h"

/* The entries for this host: of its transport between nodes; and those of one
 * node that were measured on a machine like this one. */
const sw_ways_table_t *sw_ways_over_nodes(void);
const sw_ways_table_t *sw_ways_near(void);

#endif
