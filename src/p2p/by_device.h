/*
 * by_device.h - the receiver lets a device move a message.
 *
 * Either side may lie in a device's memory, or both. The device moves the bytes
 * from one layout to the other, by one launch where both lie there
 * (device/carry.h). What lies in the sender's device is opened first
 * (device/ipc.h), and remains open for the next message.
 *
 * Only threads of the program come here: a helper must not touch its contexts.
 */
#ifndef SW_P2P_BY_DEVICE_H
#define SW_P2P_BY_DEVICE_H

#include "slot.h"

/* The first n bytes of the data. False: the device does not move them, and the
 * target has its old bytes or the message's. */
SW_API bool sw_by_device(const sw_data_t *from, const sw_data_t *to, size_t n);

/* The first n bytes of what a slot offers in its sender's device. */
bool sw_by_device_take(const sw_peer_t *peer, const sw_slot_t *slot,
                       const sw_target_t *to, size_t n);

/* For --stats: messages that were moved so. */
uint64_t sw_by_device_count(void);

#endif
