/*
 * workspace.h - memory of a device for the time of a call.
 *
 * A reduction may not store its result where peers still read an operand. It
 * then stores it here, and peers may open this memory as they open the
 * program's (ipc.h).
 *
 * A context keeps a few workspaces for later calls, so that in steady use
 * nothing is allocated, exported or opened. Smaller ones make way for one that
 * is larger than all. What is very large goes back to the driver at once.
 */
#ifndef SW_DEVICE_WORKSPACE_H
#define SW_DEVICE_WORKSPACE_H

#include "node/base/base.h"

typedef struct sw_workspace sw_workspace_t;

/* At least `bytes` bytes, in the context of the device's memory at `like`, for
 * the caller alone. NULL: the driver has refused. */
SW_API sw_workspace_t *sw_workspace_take(const void *like, uint64_t bytes);
SW_API void *sw_workspace_at(const sw_workspace_t *w);
/* No peer uses it any more. `like` is memory of the same context. `done`: no
 * kernel and no copy does either; if not, the driver waits for them. */
SW_API void sw_workspace_give(sw_workspace_t *w, const void *like, bool done);

/* The context is gone, or left alone: forget its spare ones. */
struct sw_context;
void sw_workspaces_forget(struct sw_context *c);

#endif
