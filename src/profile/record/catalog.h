/*
 * catalog.h - the things that records name by numbers.
 *
 * Communicators, datatypes and operations get their numbers when they are
 * first met, and keep them after they are gone: a report speaks of all there
 * ever were. Too many: the rest share the last number.
 */
#ifndef SW_PROFILE_RECORD_CATALOG_H
#define SW_PROFILE_RECORD_CATALOG_H

#include "node/base/base.h"

#define SW_CATALOG_MAX 65535u
#define SW_CATALOG_NAME 64

typedef enum {
    SW_CATALOG_COMMUNICATORS,
    SW_CATALOG_DATATYPES,
    SW_CATALOG_OPERATIONS,
    SW_CATALOG_KINDS
} sw_catalog_kind_t;

/* Of a communicator with a topology: the ranks in MPI_COMM_WORLD (-1: none)
 * received from, and behind them those sent to. */
typedef struct {
    uint32_t ins, outs;
    int32_t rank[];
} sw_catalog_neighbours_t;

typedef struct {
    char name[SW_CATALOG_NAME];
    uint64_t size; /* datatype: bytes; communicator: members */
    /* Of communicators. */
    uint64_t id; /* alike on all members; 0: not known */
    int32_t rank, remote_size;
    const int32_t *members; /* pairs: first and last rank in MPI_COMM_WORLD */
    uint32_t ranges;        /* pairs; 0: not known */
    const sw_catalog_neighbours_t *_Atomic neighbours; /* NULL: not known */
} sw_catalog_entry_t;

/* A new entry, a copy of *entry. Returns its number, 1 and up. Thread safe. */
SW_API uint16_t sw_catalog_add(sw_catalog_kind_t kind,
                               const sw_catalog_entry_t *entry);
/* The number of the first entry with this name and size, made at need. */
SW_API uint16_t sw_catalog_like(sw_catalog_kind_t kind,
                                const sw_catalog_entry_t *entry);
/* A communicator's neighbours, which were asked for later; kept as they are. */
SW_API void sw_catalog_neighbours(uint16_t number,
                                  const sw_catalog_neighbours_t *neighbours);
SW_API void sw_catalog_rename(sw_catalog_kind_t kind, uint16_t number,
                              const char *name);
/* Entries 1 to count; NULL: none. */
SW_API uint32_t sw_catalog_count(sw_catalog_kind_t kind);
SW_API const sw_catalog_entry_t *sw_catalog(sw_catalog_kind_t kind,
                                            uint32_t number);

#endif
