/*
 * peer.c - introducing and attaching processes; see peer.h.
 */
#include "peer.h"

#include "node/arena/arena.h"
#include "node/base/copy.h"
#include "node/os/os.h"
#include "node/base/settings.h"
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_peer_t **peers;
static size_t count, room;

/* What peers read to prove that CMA reaches us. */
static sw_token_t proof;

/* Yama's scope 1 lets only an ancestor attach, unless the process allows more.
 * That is asked for only where CMA alone could serve. */
static void allow_attach(void)
{
    char scope[8];
    int n = sw_os_read_text("/proc/sys/kernel/yama/ptrace_scope", scope,
                            sizeof scope);
    if (n > 0 && scope[0] == '1')
        sw_os_allow_attach();
}

bool sw_peer_card(sw_card_t *to)
{
    memset(to, 0, sizeof *to);
    const sw_segment_t *segment = sw_segment();
    if (!segment)
        return false;
    to->token = segment->token;
    to->control_fd = segment->fd;
    to->control_file = segment->file;
    to->control_span = segment->span;
    to->arena_fd = sw_arena.fd;
    to->arena_file = sw_arena.file;
    to->arena_span = sw_arena.fd >= 0 ? sw_arena.span : 0;
    to->pid = getpid();
    to->processors = sw_os_affinity(to->mask, SW_CARD_MASK);
    if (sw_settings.cma) {
        proof = segment->token;
        to->proof = (uint64_t)(uintptr_t)&proof;
        if (sw_arena.fd < 0 && sw_settings.ptracer)
            allow_attach();
    }
    return true;
}

uint64_t sw_peer_most = UINT64_MAX;

static bool same(const sw_token_t *a, const sw_token_t *b)
{
    return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

/* Open the peer's control segment and check that it is the card's. */
static int open_verified(const sw_card_t *card)
{
    sw_segment_head_t head;
    int fd = sw_os_peer_fd(card->pid, card->control_fd, card->control_file);
    if (fd < 0)
        return -1;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        !same(&head.token, &card->token)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void attach_arena(sw_peer_t *peer)
{
    const sw_card_t *card = &peer->card;
    if (!card->arena_span)
        return;
    int fd = sw_os_peer_fd(card->pid, card->arena_fd, card->arena_file);
    if (fd < 0)
        return;
    peer->arena = sw_os_map_shared(NULL, card->arena_span, fd, 0);
    close(fd);
}

static void probe_cma(sw_peer_t *peer)
{
    sw_token_t token = {{0, 0}};
    const sw_card_t *card = &peer->card;
    if (sw_settings.cma && card->proof &&
        sw_os_cma_read(card->pid, &token, card->proof, sizeof token) == 0)
        peer->cma = same(&token, &card->token);
}

static sw_peer_t *find(const sw_token_t *token)
{
    for (size_t i = 0; i < count; i++)
        if (same(&peers[i]->card.token, token))
            return peers[i];
    return NULL;
}

static sw_peer_t *meet(const sw_card_t *card)
{
    if (count == room) {
        size_t next = room ? 2 * room : 16;
        sw_peer_t **moved = realloc(peers, next * sizeof *moved);
        if (!moved)
            return NULL;
        peers = moved;
        room = next;
    }
    const sw_segment_t *segment = sw_segment();
    bool self = segment && same(&segment->token, &card->token);
    if (!self && sw_max(card->control_span, card->arena_span) > sw_peer_most)
        return NULL;
    int fd = self ? -1 : open_verified(card);
    if (fd < 0 && !self)
        return NULL;
    sw_peer_t *peer = calloc(1, sizeof *peer);
    if (peer) {
        peer->card = *card;
        peer->self = self;
        sw_os_process_start(card->pid, &peer->start);
        if (self) {
            peer->control = segment->base;
            peer->cma = sw_settings.cma && card->proof;
        } else {
            attach_arena(peer);
            probe_cma(peer);
        }
        peers[count++] = peer;
    }
    if (fd >= 0)
        close(fd);
    return peer;
}

sw_peer_t *sw_peer_attach(const sw_card_t *card)
{
    if (!card->control_span)
        return NULL;
    pthread_mutex_lock(&lock);
    sw_peer_t *peer = find(&card->token);
    if (!peer)
        peer = meet(card);
    pthread_mutex_unlock(&lock);
    return peer;
}

sw_peer_t *sw_peer_known(const sw_token_t *token)
{
    pthread_mutex_lock(&lock);
    sw_peer_t *peer = find(token);
    pthread_mutex_unlock(&lock);
    return peer;
}

bool sw_peer_control(sw_peer_t *peer)
{
    pthread_mutex_lock(&lock);
    if (!peer->control) {
        int fd = open_verified(&peer->card);
        if (fd >= 0) {
            peer->control = sw_os_map_shared(NULL, peer->card.control_span, fd,
                                             0);
            close(fd);
        }
    }
    pthread_mutex_unlock(&lock);
    return peer->control != NULL;
}

bool sw_peer_gone(const sw_peer_t *peer)
{
    uint64_t start = 0;
    int there = sw_os_process_start(peer->card.pid, &start);
    return there == 0 || (there == 1 && start != peer->start);
}

bool sw_peer_turn(const sw_peer_t *peer, unsigned *turns)
{
    if ((++*turns & 4095) == 0 && sw_peer_gone(peer))
        return true;
    if (sw_wait_crowded() || *turns > 10000)
        sw_os_yield();
    else
        sw_os_pause();
    return false;
}

double sw_peer_crowd(void)
{
    uint64_t mask[SW_CARD_MASK];
    int mine = sw_os_affinity(mask, SW_CARD_MASK);
    double demand = 1.0 / mine; /* this process's own */
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        const sw_card_t *card = &peers[i]->card;
        bool overlap = false;
        for (int w = 0; w < SW_CARD_MASK; w++)
            overlap |= (card->mask[w] & mask[w]) != 0;
        if (!peers[i]->self && overlap)
            demand += 1.0 / card->processors;
    }
    pthread_mutex_unlock(&lock);
    return demand;
}

int sw_peer_read(const sw_peer_t *peer, const sw_part_t *part, uint64_t offset,
                 void *to, size_t n)
{
    if (n == 0)
        return 0;
    const char *from = sw_peer_window(peer, part, offset);
    if (from) {
        sw_copy(to, from, n);
        return 0;
    }
    if (part->form == SW_FORM_CMA)
        return sw_os_cma_read(peer->card.pid, to, part->address + offset, n);
    errno = EINVAL;
    return -1;
}

int sw_peer_write(const sw_peer_t *peer, const sw_part_t *part, uint64_t offset,
                  const void *from, size_t n)
{
    if (n == 0)
        return 0;
    char *to = sw_peer_window(peer, part, offset);
    if (to) {
        sw_copy(to, from, n);
        return 0;
    }
    if (part->form == SW_FORM_CMA)
        return sw_os_cma_write(peer->card.pid, part->address + offset, from, n);
    errno = EINVAL;
    return -1;
}
