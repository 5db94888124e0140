/*
 * span_names.h - what the file of ways (ways.h) calls a host and its
 * transport. Knows no MPI; the benchmark uses it, too.
 *
 * The host is its kind and version: openmpi-5.0.11. The transport is what the
 * environment asks the host for: tcp, ucx. Where it asks for nothing, the
 * host chooses alike in each run, and the name is "default".
 */
#ifndef SW_COLL_SPAN_NAMES_H
#define SW_COLL_SPAN_NAMES_H

#include "node/base/base.h"

enum { SW_SPAN_NAME = 64 };

/* From the text of MPI_Get_library_version. */
SW_API void sw_span_name_host(const char *version, char to[SW_SPAN_NAME]);

/* From the environment; `host` is the name of the host. */
SW_API void sw_span_name_transport(const char *host, char to[SW_SPAN_NAME]);

#endif
