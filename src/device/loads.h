/*
 * loads.h - has the process loaded anything since the last look?
 *
 * A device's driver may come into a process at any time, by dlopen, and no code
 * tells. The dynamic linker counts the objects that it loads, and tells the
 * count to dl_iterate_phdr, which takes its lock: too dear for every MPI call.
 *
 * The count itself is a word of the linker's data. Its place differs between
 * versions, so it is found by watching: at each look, the words that do not
 * equal the count drop out. Once a single word has followed the count through
 * a change, reading that word is the look. Until then, and where the linker
 * shows nothing, each look asks dl_iterate_phdr.
 *
 * The namespace's number of loaded objects, which stands behind its list,
 * equals the count until something is unloaded. So that word never takes part.
 */
#ifndef SW_DEVICE_LOADS_H
#define SW_DEVICE_LOADS_H

#include "node/base/base.h"

/* The word of the linker's data that holds the count; NULL: not known. The
 * caller has just been told that the count is `now`. Not thread safe. */
const uint64_t *sw_loads_learn(uint64_t now);

#endif
