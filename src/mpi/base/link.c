/*
 * link.c - see link.h.
 */
#include "link.h"

#include "coll/agreement.h"
#include "device/memory.h"
#include "failure.h"
#include "match/mailbox.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"

#include <stdlib.h>

bool sw_linked;
sw_token_t sw_link_cookie;

static sw_link_t *links;        /* by place on the node; NULL: none */

void sw_link_offer(sw_hello_t *to)
{
    if (!sw_settings.p2p || sw_arena.fd < 0)
        return;
    to->ledger = sw_ledger_open(sw_world.places);
    to->directory = to->ledger ? sw_slots_directory() : 0;
    /* Beside a GPU's driver messages stay the MPI's, which may know the device:
     * we would take copies. So they do where the MPI goes on after a rank has
     * died, because a request of ours would wait for it for ever. */
    sw_failure_look();
    if (sw_settings.match && !sw_device_present() && !sw_failure_told)
        to->mailbox = sw_mailbox_open(sw_world.places, sw_world.place);
}

static void make(int place)
{
    const sw_place_t *p = &sw_world.at[place];
    const sw_hello_t *mine = &sw_world.at[sw_world.place].said;
    if (place == sw_world.place || !mine->directory || !p->said.directory ||
        !(p->reach & p->reached & SW_AGREE_ARENA))
        return;
    links[place] = (sw_link_t){
        .peer = p->peer, .place = place, .directory = p->said.directory,
        .open = true,
        .row = sw_ledger_row(p->peer, p->said.ledger, sw_world.places,
                             sw_world.place)};
}

bool sw_link_start(void)
{
    bool any = false;
    sw_ledger_shared = sw_threaded;
    if (sw_world.places < 2)
        return false;
    links = calloc((size_t)sw_world.places, sizeof *links);
    if (!links) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
    sw_link_cookie = sw_world.at[0].said.cookie;
    for (int i = 0; i < sw_world.places; i++) {
        make(i);
        any = any || links[i].open;
    }
    if (any)
        sw_wait_progress = sw_comm_progress;
    return any;
}

void sw_link_poke(void)
{
    int flag;
    if (sw_world.comm != MPI_COMM_NULL)
        host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_world.comm, &flag,
                    MPI_STATUS_IGNORE);
}

sw_link_t *sw_link_at(int place)
{
    return links && place >= 0 && place < sw_world.places &&
           links[place].open ? &links[place] : NULL;
}

sw_link_t **sw_links_slow(sw_comm_t *c)
{
    if (!sw_linked || !c->context_id || c->reason == SW_REASON_INTER ||
        c->reason == SW_REASON_FOREIGN)
        return NULL;
    sw_members_t *members = sw_comm_members(c);
    if (!members)
        return NULL;
    sw_link_t **link = __atomic_load_n(&members->link, __ATOMIC_ACQUIRE);
    if (!link && (link = calloc((size_t)c->n, sizeof *link))) {
        for (int i = 0; i < c->n; i++)
            link[i] = sw_link_at(sw_world_place(members->rank[i]));
        /* Another thread may have done the same. */
        sw_link_t **none = NULL;
        if (!__atomic_compare_exchange_n(&members->link, &none, link, false,
                                         __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            free(link);
            link = none;
        }
    }
    __atomic_store_n(&c->link, link, __ATOMIC_RELEASE);
    return link;
}
