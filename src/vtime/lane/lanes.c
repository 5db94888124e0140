/*
 * lanes.c - the lanes' memory: made, mapped, given back.
 */
#include "lane.h"

#include "ring.h"
#include "node/os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* With the sizes that two builds must share. */
#define MAGIC (0x73776c616e650000u + sizeof(sw_lane_shared_t) / 64)

_Static_assert(sizeof(sw_lane_shared_t) ==
               2 * SW_PAGE + SW_LANE_ENTRIES * sizeof(sw_lane_entry_t),
               "a lane's head is two pages");

static size_t head_size(uint32_t ranks)
{
    return sw_round_up(sizeof(sw_lanes_head_t) + (ranks + 63) / 64 * 8,
                       SW_PAGE);
}

static size_t whole_size(uint32_t ranks)
{
    return head_size(ranks) + (size_t)ranks * sizeof(sw_lane_shared_t);
}

int sw_lanes_make(uint32_t ranks)
{
    if (!ranks) {
        errno = EINVAL;
        return -1;
    }
    int fd = sw_os_memfd("straightway-lanes");
    if (fd < 0)
        return -1;
    sw_lanes_head_t *head = NULL;
    if (!sw_os_resize(fd, whole_size(ranks)))
        head = sw_os_map_shared(NULL, head_size(ranks), fd, 0);
    if (!head) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    head->ranks = ranks;
    head->entries = SW_LANE_ENTRIES;
    head->lane_size = sizeof(sw_lane_shared_t);
    sw_watch_process(&head->maker, getpid());
    head->magic = MAGIC;
    sw_os_unmap(head, head_size(ranks));
    return fd;
}

sw_lanes_t *sw_lanes_map(int fd)
{
    struct stat file;
    sw_lanes_head_t head;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) ||
        sw_os_read_at(fd, &head, sizeof head, 0) || head.magic != MAGIC ||
        head.entries != SW_LANE_ENTRIES || !head.ranks ||
        head.lane_size != sizeof(sw_lane_shared_t) ||
        (size_t)file.st_size != whole_size(head.ranks)) {
        errno = EINVAL;
        return NULL;
    }
    sw_lanes_t *lanes = calloc(1, sizeof *lanes);
    struct sw_lane **own = calloc(head.ranks, sizeof *own);
    char *base = lanes && own ? sw_os_map_shared(NULL, whole_size(head.ranks),
                                                 fd, 0)
                              : NULL;
    if (!base) {
        free(lanes);
        free(own);
        errno = ENOMEM;
        return NULL;
    }
    lanes->head = (sw_lanes_head_t *)base;
    lanes->lane = base + head_size(head.ranks);
    lanes->size = whole_size(head.ranks);
    lanes->ranks = head.ranks;
    lanes->own = own;
    return lanes;
}

void sw_lanes_unmap(sw_lanes_t *lanes)
{
    if (!lanes)
        return;
    for (uint32_t rank = 0; rank < lanes->ranks; rank++)
        sw_lane_forget(lanes->own[rank]);
    sw_os_unmap(lanes->head, lanes->size);
    free(lanes->own);
    free(lanes);
}
