/*
 * capture_file.c - see capture_file.h.
 */
#include "capture_file.h"

#include "job.h"
#include "node/os/os.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char magic[16] = "\x89SWCAP\r\n\x01";

void sw_capture_number(char *to, uint64_t n, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, n >>= 8)
        to[i] = (char)n;
}

void sw_capture_head(char to[SW_CAPTURE_HEAD], const char *kind, uint32_t crc,
                     uint64_t length)
{
    memcpy(to, kind, 4);
    sw_capture_number(to + 4, crc, 4);
    sw_capture_number(to + 8, length, 8);
    sw_capture_number(to + 16, (uint32_t)sw_job.rank, 4);
    sw_capture_number(to + 20, 0, 4);
}

int sw_capture_begin(int fd)
{
    return lseek(fd, 0, SEEK_END) ? 0
                                  : sw_os_write_all(fd, magic, sizeof magic);
}

/* Where files cannot be locked, appending alone must do: a block is one write,
 * as a rule. */
int sw_capture_append(const char *path, const sw_blob_t *block)
{
    int fd = sw_os_open_append(path);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX) && errno == EINTR)
        ;
    int rc = sw_capture_begin(fd);
    if (!rc)
        rc = sw_os_write_all(fd, block->at, block->size);
    int error = errno;
    close(fd);
    errno = error;
    return rc;
}
