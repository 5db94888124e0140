/*
 * settle.h - copies of the program that CUDA calls synchronous, and that may
 * still be under way.
 *
 * A cudaMemcpy from pageable memory may return before the bytes are there. So
 * does one within the device. The program then calls MPI, and is right to do
 * so: MPIs that know GPUs ask the driver to finish such copies before they
 * return. The attribute CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of an allocation says
 * so, and the engine sets it when it first meets one.
 *
 * A copy that was begun before that is on the default stream. The engine asks
 * this stream whether it is idle, for a second at most: a kernel there may wait
 * for what the program does after its call of MPI. The engine puts nothing
 * there, and does not ask while a stream is captured, which a question would
 * spoil.
 */
#ifndef SW_DEVICE_SETTLE_H
#define SW_DEVICE_SETTLE_H

#include "cuda.h"

/* The engine, or a peer, is about to read or write the place's allocation.
 * Within a visit of its context. */
void sw_settle(const sw_cuda_place_t *p);

#endif
