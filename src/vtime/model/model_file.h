/*
 * model_file.h - a model as text, a line each, as the Python half writes it
 * from TOML, presets and options (straightway/whatif/models/). Numbers are
 * decimal, times in ns (fractions count), sizes in bytes, speeds in ns a byte.
 * '#' begins a comment. `ranks` comes first.
 *
 *     ranks N
 *     place PER_NODE PER_DOMAIN
 *     place_rank RANK NODE DOMAIN
 *     link CLASS KEY VALUE [KEY VALUE ...]
 *                 CLASS: self, domain, node, network
 *                 KEY: o_send, o_recv, L, g, O_send, O_recv, G, S
 *                 a class without a line takes that of the next wider one
 *     state NUMBER NS NS_A_BYTE
 *                 of a rank that has computed for so long, and so long a byte
 *                 that it sends (model.h); 1 first, then 2, 3
 *     point CLASS BYTES SEND WIRE GAP RECEIVE [STATE]
 *     given CLASS BYTES SEND WIRE GAP RECEIVE
 *                 of blocks that are given away, of so many bytes and more, to
 *                 a rank of the same node
 *     access MEMORY OP BYTES CALL REST
 *     locks MEMORY LOCK UNLOCK
 *                 of one-sided calls within a node (accesses.h); MEMORY:
 *                 created, allocated; OP: put, accumulate, get, fetch
 *     network crossbar|fat_tree|torus|dragonfly KEY VALUE ...
 *                 the heads of network_*.c have the keys
 *     noise PERIOD DURATION SEED
 *     cpu_speed FACTOR
 *     node_speed NODE FACTOR
 *                 besides; of a node without a line: 1
 *     reduce NS_A_BYTE
 *     test NS
 *     loggopsim   messages by its rule (model.h)
 *
 * and of collectives, OP being a name of op.h's, or `all`; the last line that
 * fits a call counts:
 *
 *     formula OP ALGORITHM [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]
 *     messages OP ALGORITHM [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]
 *     table OP RANKS BYTES WAITING LEAVING [STATE]
 *     measured OP [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]
 *                 by the lines `table` before it, between them by lines
 *                 in the logarithms of bytes, ranks and times (table.h)
 *     inside OP [MIN_BYTES MAX_BYTES [MIN_RANKS MAX_RANKS]]
 *                 the same, where all members share a node
 *     span_table OP NODES RANKS BYTES WAITING LEAVING
 *                 of members on so many nodes, with so many on the fullest; as
 *                 a rule it stands where its first line does
 *     leaders OP  of members on several nodes, two or more on one: by the
 *                 leaders of the nodes, where that is cheaper (plan_span.c)
 *     offload OP POSTING ROUND NS_A_BYTE
 *     started OP BYTES START SHARED OWN ASIDE HELD
 *                 the parts of a nonblocking one whose members share a node,
 *                 in parts of its time by the other lines (started.h)
 *     later OP    a replay completes blocking ones as late as ranks only
 *                 compute (ops/later.h)
 *     free OP
 *     scale OP FACTOR
 *
 * `all` stands for those collectives that have such an algorithm, or a table.
 * Bytes are those of one block (op.h); a bound such as 4096/n is one for all
 * members' blocks together, and * none.
 */
#ifndef SW_VTIME_MODEL_MODEL_FILE_H
#define SW_VTIME_MODEL_MODEL_FILE_H

#include "model.h"

/* False: `why` says what is wrong, and in which line. */
bool sw_model_read(sw_model_t *model, const char *path, char *why,
                   size_t why_size);

/* One line of a collective's (plan.c); its words. NULL: it is right; else what
 * is wrong with it (static text, or within `why`). */
const char *sw_rules_line(sw_model_t *model, int words, char **word, char *why,
                          size_t why_size);

#endif
