/*
 * where.h - where a rank runs, for its capture: the processors that it may use,
 * and of one rank on each node the node's packages, NUMA domains, caches and
 * cores. With these a reader on any machine knows what ranks share.
 */
#ifndef SW_PROFILE_CAPTURE_WHERE_H
#define SW_PROFILE_CAPTURE_WHERE_H

#include "profile/base/blob.h"

/* Look, once, when the launcher and the MPI have bound the process. `describe`:
 * this rank tells of its node, which reads some files for each core. */
SW_API void sw_where_look(bool describe);
/* Put the members "cpus" and "domains". Without tables in /sys there are no
 * "domains". Safe in a signal handler. */
void sw_where_put(sw_blob_t *text);

#endif
