/*
 * convert_text.c - a file of operations as text, to be read by people: a line
 * for each operation, ranks one after the other.
 */
#include "convert.h"
#include "vtime/ops/steps.h"

bool sw_ops_to_text(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    char why[1024];
    (void)how;
    sw_op_file_t *ops = sw_op_open(in, why, sizeof why);
    if (!ops)
        return sw_convert_fail("%s", why);
    FILE *to = sw_convert_open_text(out);
    if (!to) {
        sw_op_close(ops);
        return false;
    }
    sw_op_source_t source;
    sw_vop_t op;
    sw_op_source(ops, &source);
    fprintf(to, "# %s\n", sw_op_note(ops));
    const sw_sections_t *sections = sw_op_sections(ops);
    for (uint32_t i = 1; i <= sections->count; i++)
        if (*sw_sections_name(sections, i))
            fprintf(to, "# section %u is \"%s\"\n", i,
                    sw_sections_name(sections, i));
    for (uint32_t rank = 0; rank < sw_op_ranks(ops); rank++) {
        fprintf(to, "rank %u\n", rank);
        while (source.next(source.of, rank, &op) == SW_SOURCE_OP) {
            char words[256];
            sw_op_words(&op, words, sizeof words);
            fprintf(to, "  %s\n", words);
            done->operations++;
        }
    }
    done->damaged = sw_op_damaged(ops);
    sw_op_close(ops);
    return sw_convert_close_text(to, true, out);
}
