/*
 * lane.c - see lane.h.
 */
#include "lane.h"
