/*
 * blob.h - bytes and text that grow, without the heap.
 *
 * A capture may be made in a signal handler of a program whose heap is broken.
 * So this takes memory from the system alone. When there is no more, the blob
 * is `lost`, and what is put to it after that goes nowhere.
 */
#ifndef SW_PROFILE_BASE_BLOB_H
#define SW_PROFILE_BASE_BLOB_H

#include "node/base/base.h"

typedef struct {
    char *at;
    size_t size, room;
    bool lost;
} sw_blob_t;

SW_API void sw_blob_put(sw_blob_t *blob, const void *bytes, size_t n);
SW_API void sw_blob_free(sw_blob_t *blob);

/* JSON: text as it is, a string with its quotes, a number, and
 * `"name": value, ` for members. */
SW_API void sw_blob_text(sw_blob_t *blob, const char *text);
SW_API void sw_blob_string(sw_blob_t *blob, const char *text);
SW_API void sw_blob_number(sw_blob_t *blob, uint64_t n);
SW_API void sw_blob_hex(sw_blob_t *blob, uint64_t n);
SW_API void sw_blob_named(sw_blob_t *blob, const char *name, uint64_t n);
SW_API void sw_blob_named_string(sw_blob_t *blob, const char *name,
                                 const char *text);
/* Take back a last ", " before closing with `end`. */
SW_API void sw_blob_close(sw_blob_t *blob, const char *end);

#endif
