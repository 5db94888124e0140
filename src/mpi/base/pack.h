/*
 * pack.h - MPI_Pack and MPI_Unpack, for all forms of counts. True: it is done,
 * and *position is behind the packed bytes. False: the host is to do it.
 */
#ifndef SW_MPI_BASE_PACK_H
#define SW_MPI_BASE_PACK_H

#include "host.h"

bool sw_pack_into(const void *inbuf, int64_t incount, MPI_Datatype datatype,
                  void *outbuf, int64_t outsize, int64_t *position,
                  MPI_Comm comm);
bool sw_pack_from(const void *inbuf, int64_t insize, int64_t *position,
                  void *outbuf, int64_t outcount, MPI_Datatype datatype,
                  MPI_Comm comm);

#endif
