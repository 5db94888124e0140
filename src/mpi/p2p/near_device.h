/*
 * near_device.h - messages whose buffers lie in a device's memory (--gpu).
 *
 * A long message from there is offered where it lies (p2p/slot.h), and the
 * receiver's device moves it straight to its place. So no rank packs it:
 *
 *   the receiver                            the way
 *   its buffer is a device's, or not        its device moves the data once
 *   has no driver, or is refused, or        the slot stays unread: the sender
 *   its helper thread receives              packs, and sends pieces
 *   does not come                           the sender packs it aside
 *
 * A long message from ordinary memory to a device goes the same way, from what
 * the receiver finds. Short ones, and what the driver lets no other process
 * open, pass through blocks of ordinary memory at both ends.
 *
 * No helper thread touches a context of the program's. Where it finds that it
 * would, it leaves the work to the program, or asks for pieces.
 */
#ifndef SW_MPI_P2P_NEAR_DEVICE_H
#define SW_MPI_P2P_NEAR_DEVICE_H

#include "near_send.h"

void sw_near_device_start(void);

/* May the message, which the processor does not reach, be offered where it
 * lies? Then it is described for that. */
bool sw_near_device_offers(sw_near_send_t *s);
/* The offer of such a one. */
void sw_near_device_bind(sw_near_send_t *s);

/* Pack it after all. */
void sw_near_device_pack(sw_near_send_t *s);
/* The same to a block: sw_slot_gather_t. */
void sw_near_device_gather(const void *send, char *to);

/* Where the data of a receive with a block belong, if a device may move them
 * there now. */
bool sw_near_device_target(const sw_near_receive_t *r, sw_data_t *to);

/* For --stats: how often a message was packed or unpacked between a device's
 * memory and ordinary memory. */
void sw_near_device_staged(const sw_datatype_t *type);
int64_t sw_near_device_count(void);

#endif
