/*
 * smpi_read.h - what reads time-independent traces: the files
 * (smpi_read.c), the words of a line (smpi_words.c), what they mean
 * (smpi_actions.c, smpi_collectives.c). The functions say what is wrong, with
 * file and line, and return false.
 */
#ifndef SW_VTIME_FORMATS_SMPI_READ_H
#define SW_VTIME_FORMATS_SMPI_READ_H

#include "convert.h"
#include "vtime/base/lookup.h"

typedef struct {
    const char *path; /* of the file at hand */
    uint64_t line;
    sw_op_writer_t *writer;
    sw_converted_t *done;
    double flops;
    uint32_t ranks;
    uint8_t *unit;      /* by rank: bytes of an element */
    uint32_t *requests; /* by rank: how many there were */
    /* by rank: (from, to, tag) -> the first under way */
    sw_lookup_t *open;
    sw_lookup_t after; /* (rank, request) -> the next alike */
    char **word;
    uint32_t words, room;
} sw_smpi_t;

bool sw_smpi_fail(const sw_smpi_t *s, const char *form, const char *what);

/* A line into words: RANK ACTION ... */
bool sw_smpi_split(sw_smpi_t *s, char *text);
/* The i-th word as a number, from 0 to `most`. */
bool sw_smpi_real(const sw_smpi_t *s, size_t i, double most, double *to);
bool sw_smpi_whole(const sw_smpi_t *s, size_t i, uint64_t most, uint64_t *to);
/* ... as a rank that is there. */
bool sw_smpi_rank(const sw_smpi_t *s, size_t i, uint64_t *to);
/* Bytes of so many elements, whose type the word at `type` names. */
bool sw_smpi_bytes(const sw_smpi_t *s, uint32_t rank, size_t i, size_t type,
                   uint64_t *to);

/* Operations of a rank. */
bool sw_smpi_put(sw_smpi_t *s, uint32_t rank, const sw_vop_t *op);
bool sw_smpi_compute(sw_smpi_t *s, uint32_t rank, double seconds);
/* What the line at hand says. */
bool sw_smpi_action(sw_smpi_t *s, uint32_t rank);
/* Is it a collective? -1: no; its number for the other. */
int sw_smpi_collective_named(const char *verb);
bool sw_smpi_collective(sw_smpi_t *s, uint32_t rank, unsigned which);

#endif
