/*
 * feeds.c - the feeds' memory: made, mapped, given back.
 */
#include "feed.h"

#include "ring.h"
#include "node/os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* With the sizes that two builds must share. */
#define MAGIC (0x73776c616e650000u + sizeof(sw_feed_shared_t) / 64)

_Static_assert(sizeof(sw_feed_shared_t) ==
                   2 * SW_PAGE + SW_FEED_ENTRIES * sizeof(sw_feed_entry_t),
               "a feed's head is two pages");

static size_t head_size(uint32_t ranks)
{
    return sw_round_up(sizeof(sw_feeds_head_t) + (ranks + 63) / 64 * 8,
                       SW_PAGE);
}

static size_t whole_size(uint32_t ranks)
{
    return head_size(ranks) + (size_t)ranks * sizeof(sw_feed_shared_t);
}

int sw_feeds_make(uint32_t ranks)
{
    if (!ranks) {
        errno = EINVAL;
        return -1;
    }
    int fd = sw_os_memfd("straightway-feeds");
    if (fd < 0)
        return -1;
    sw_feeds_head_t *head = NULL;
    if (!sw_os_resize(fd, whole_size(ranks)))
        head = sw_os_map_shared(NULL, head_size(ranks), fd, 0);
    if (!head) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    head->ranks = ranks;
    head->entries = SW_FEED_ENTRIES;
    head->feed_size = sizeof(sw_feed_shared_t);
    sw_watch_process(&head->maker, getpid());
    head->magic = MAGIC;
    sw_os_unmap(head, head_size(ranks));
    return fd;
}

sw_feeds_t *sw_feeds_map(int fd)
{
    struct stat file;
    sw_feeds_head_t head;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) ||
        sw_os_read_at(fd, &head, sizeof head, 0) || head.magic != MAGIC ||
        head.entries != SW_FEED_ENTRIES || !head.ranks ||
        head.feed_size != sizeof(sw_feed_shared_t) ||
        (size_t)file.st_size != whole_size(head.ranks)) {
        errno = EINVAL;
        return NULL;
    }
    sw_feeds_t *feeds = calloc(1, sizeof *feeds);
    struct sw_feed **own = calloc(head.ranks, sizeof *own);
    char *base = feeds && own
                     ? sw_os_map_shared(NULL, whole_size(head.ranks), fd, 0)
                     : NULL;
    if (!base) {
        free(feeds);
        free(own);
        errno = ENOMEM;
        return NULL;
    }
    feeds->head = (sw_feeds_head_t *)base;
    feeds->feed = base + head_size(head.ranks);
    feeds->size = whole_size(head.ranks);
    feeds->ranks = head.ranks;
    feeds->own = own;
    return feeds;
}

void sw_feeds_unmap(sw_feeds_t *feeds)
{
    if (!feeds)
        return;
    for (uint32_t rank = 0; rank < feeds->ranks; rank++)
        sw_feed_forget(feeds->own[rank]);
    sw_os_unmap(feeds->head, feeds->size);
    free(feeds->own);
    free(feeds);
}
