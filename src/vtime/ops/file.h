/*
 * file.h - operations in a file: what replays, imports and exports share.
 *
 * A what-if run writes one; traces and foreign formats become one; any number
 * of replays read it. The file keeps the ranks' operations compact, and apart
 * from each other. So an engine can take from all ranks at once and hold no
 * more than a window of each. docs/opfile-format.md has the format. Files end
 * in `.swops`, and get their name when they are whole.
 *
 * A file may have operations of all kinds. Operations that ask get no answer; a
 * converter writes none.
 */
#ifndef SW_VTIME_OPS_FILE_H
#define SW_VTIME_OPS_FILE_H

#include "section.h"
#include "source.h"

/* Writing: ranks in any order, each rank's operations in its own. */
typedef struct sw_op_writer sw_op_writer_t;

/* `note`: where the operations come from, one line of text, kept. NULL:
 * errno. */
sw_op_writer_t *sw_op_writer_new(const char *path, uint32_t ranks,
                                 const char *note);
bool sw_op_write_context(sw_op_writer_t *writer, uint32_t number, uint32_t n,
                         const uint32_t *members);
/* A section's name (section.h), once, at any time. */
bool sw_op_write_section(sw_op_writer_t *writer, uint32_t number,
                         const char *name);
bool sw_op_write(sw_op_writer_t *writer, uint32_t rank, const sw_vop_t *op);
/* False: the writer could not write something; the file is gone. */
bool sw_op_writer_close(sw_op_writer_t *writer);
/* Give it up: there will be no file. */
void sw_op_writer_drop(sw_op_writer_t *writer);

/* Reading. */
typedef struct sw_op_file sw_op_file_t;

/* NULL: `why` says it in a sentence. The reader checks everything in the
 * file. */
sw_op_file_t *sw_op_open(const char *path, char *why, size_t why_size);
uint32_t sw_op_ranks(const sw_op_file_t *file);
uint64_t sw_op_count(const sw_op_file_t *file);
const char *sw_op_note(const sw_op_file_t *file);
/* The i-th context by number: its members, to be freed; NULL: no memory. */
uint32_t sw_op_context_count(const sw_op_file_t *file);
uint32_t *sw_op_context(const sw_op_file_t *file, uint32_t i, uint32_t *number,
                        uint32_t *n);
/* Sections that have names. */
const sw_sections_t *sw_op_sections(const sw_op_file_t *file);
/* A source that reads from it. A damaged part ends its rank early, and the file
 * counts it. */
void sw_op_source(sw_op_file_t *file, sw_op_source_t *source);
uint64_t sw_op_damaged(const sw_op_file_t *file);
/* Begin again. */
void sw_op_rewind(sw_op_file_t *file);
void sw_op_close(sw_op_file_t *file);

#endif
