/*
 * detour.h - data of a device under a host that knows no devices, where no
 * kernel of ours can take it: there is none for this device, the driver has
 * refused one, or the host alone understands the datatype.
 *
 * Plain bytes are copied, which takes no kernel:
 *
 *   a known layout   its runs, one by one; to pack, the whole span at once if
 *                    that has few bytes more
 *   an unknown one   the whole span, which the host packs, or unpacks and then
 *                    all of it goes back
 *
 * Runs may lie in both kinds of memory. A detour is slow, and it is right.
 */
#ifndef SW_MPI_BASE_DETOUR_H
#define SW_MPI_BASE_DETOUR_H

#include "datatype.h"

/* False: the driver has refused. The target may have been written in part. */
bool sw_detour_pack(const void *user, int64_t count, const sw_datatype_t *type,
                    char *data, MPI_Comm comm);
bool sw_detour_unpack(const char *data, void *user, int64_t count,
                      const sw_datatype_t *type, MPI_Comm comm);

#endif
