/*
 * names.h - the lanes' headers, beside those of this room.
 *
 * The rooms of collectives and of virtual time were never meant to be seen
 * together, and have some names in common for what differs. Here, and only
 * here, those of virtual time get others.
 */
#ifndef SW_MPI_VIRTUAL_NAMES_H
#define SW_MPI_VIRTUAL_NAMES_H

#pragma push_macro("SW_COLLECTIVE")
#pragma push_macro("SW_COLLECTIVES")
#undef SW_COLLECTIVE
#undef SW_COLLECTIVES
#define sw_collective_t sw_vcollective_t
#define sw_op_t sw_vop_t
#define sw_answer_t sw_vanswer_t
#define sw_source_t sw_vsource_t
#define sw_lane_t sw_vlane_t
#define sw_link_t sw_vlink_t
#include "vtime/lane/server.h"
#undef sw_collective_t
#undef sw_op_t
#undef sw_answer_t
#undef sw_source_t
#undef sw_lane_t
#undef sw_link_t
#undef SW_COLLECTIVE
#undef SW_COLLECTIVES
#pragma pop_macro("SW_COLLECTIVES")
#pragma pop_macro("SW_COLLECTIVE")

#endif
