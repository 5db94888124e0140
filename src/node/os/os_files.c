/*
 * os_files.c - the part of the door to Linux that writes files by name.
 *
 * Other users may guess a name in a folder that they may write to. They may
 * have placed something there already: a symbolic or hard link to a file of
 * ours, or a file that they can read. So nothing here follows a link in a
 * name's last part. A file that is there already serves only if no other user
 * can have placed it.
 *
 * Root may remove any name. So no new file takes the place of a device, such as
 * /dev/null, nor of a link to one, such as /dev/stdout.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 4096
#define TRIES 100 /* another process may make or remove it */

/* Like open; the umask decides which other users may read the file. Where the
 * process has no descriptor left but may have more, it gets one. */
static int open_file(const char *path, int flags)
{
    flags |= O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, 0666);
    struct rlimit limit;
    if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
        return fd;
    struct rlimit more = {limit.rlim_max, limit.rlim_max};
    if (!setrlimit(RLIMIT_NOFILE, &more)) {
        fd = open(path, flags, 0666);
        int error = errno;
        setrlimit(RLIMIT_NOFILE, &limit);
        errno = error;
    }
    return fd;
}

static bool stat_folder(const char *path, struct stat *to)
{
    char folder[PATH_ROOM];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder)
        return false;
    memcpy(folder, path, n);
    folder[n] = '\0';
    return !stat(!slash ? "." : n ? folder : "/", to);
}

/* Is it sure that no other user has placed this file under this name? The
 * folder's owner may do anything there, so we trust that user. (Some network
 * file systems give all new files to the folder's owner.) */
static bool is_ours(int fd, const char *path)
{
    struct stat file, folder;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) ||
        !stat_folder(path, &folder))
        return false;
    if (!(folder.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    return file.st_nlink == 1 &&
           (file.st_uid == geteuid() || file.st_uid == folder.st_uid);
}

int sw_os_open_append(const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        /* A FIFO must not make us wait. */
        int fd = open_file(path, O_APPEND | O_NONBLOCK);
        if (fd >= 0 && !is_ours(fd, path)) {
            close(fd);
            errno = EPERM;
            return -1;
        }
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = open_file(path, O_APPEND | O_CREAT | O_EXCL);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool sw_os_is_special(const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* For a name whose place a new file must not take. */
static int refuse_place(void)
{
    errno = EEXIST;
    return -1;
}

int sw_os_open_new(const char *path)
{
    if (sw_os_is_special(path))
        return refuse_place();
    if (unlink(path) && errno != ENOENT)
        return -1;
    return open_file(path, O_CREAT | O_EXCL);
}

int sw_os_open_draft(const char *path, char *draft, size_t room)
{
    if (sw_os_is_special(path))
        return refuse_place();
    for (int i = 0; i < TRIES; i++) {
        unsigned long long number;
        sw_os_random(&number, sizeof number);
        int n = snprintf(draft, room, "%s.%016llx.part", path, number);
        if (n < 0 || (size_t)n >= room) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open_file(draft, O_CREAT | O_EXCL);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool sw_os_private_folder(const char *path)
{
    struct stat st;
    if (!mkdir(path, 0700))
        return true;
    if (errno != EEXIST || lstat(path, &st))
        return false;
    errno = EPERM;
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IRWXG | S_IRWXO));
}
