/*
 * crc.h - CRC-32 as zlib has it (polynomial 0xedb88320), of much at once.
 */
#ifndef SW_NODE_BASE_CRC_H
#define SW_NODE_BASE_CRC_H

#include "base.h"

/* Of n bytes, going on from `crc` (0: from the beginning). Safe in a signal
 * handler. */
SW_API uint32_t sw_crc32(uint32_t crc, const void *bytes, size_t n);

#endif
