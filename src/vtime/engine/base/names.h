/*
 * names.h - the things of the engine, by name. Rooms above
 * this one define some of them; here is no more than their names.
 */
#ifndef SW_VTIME_ENGINE_BASE_NAMES_H
#define SW_VTIME_ENGINE_BASE_NAMES_H

typedef struct sw_engine sw_engine_t;
typedef struct sw_rank sw_rank_t;
typedef struct sw_strand sw_strand_t;
typedef struct sw_message sw_message_t;
typedef struct sw_request sw_request_t;
typedef struct sw_channel sw_channel_t;
typedef struct sw_context sw_context_t;
typedef struct sw_meeting sw_meeting_t;
typedef struct sw_window_of sw_window_of_t;
typedef struct sw_access sw_access_t;
typedef struct sw_lock sw_lock_t;
typedef struct sw_graph sw_graph_t;

#endif
