/*
 * capture_file.h - a capture file: its beginning, and the blocks that ranks
 * add.
 *
 * docs/capture-format.md says what is in it. Everything here is safe in a
 * signal handler: no heap, no lock, no stdio.
 */
#ifndef SW_PROFILE_BASE_CAPTURE_FILE_H
#define SW_PROFILE_BASE_CAPTURE_FILE_H

#include "blob.h"

/* The head of this rank's block of a kind (four letters), with the checksum
 * and the length of its payload. */
#define SW_CAPTURE_HEAD 24u
SW_API void sw_capture_head(char to[SW_CAPTURE_HEAD], const char *kind,
                            uint32_t crc, uint64_t length);
/* A number, the lowest of its bytes first. */
SW_API void sw_capture_number(char *to, uint64_t n, unsigned bytes);

/* Write the beginning of a file, if it is empty. 0, or -1 with errno. */
SW_API int sw_capture_begin(int fd);

/* Add a block to the file at `path`, which is made if it is not there; other
 * processes may be doing the same. 0, or -1 with errno. */
SW_API int sw_capture_append(const char *path, const sw_blob_t *block);

#endif
