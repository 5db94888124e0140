/*
 * check.c - straightway-whatif check MODEL: is the file a model, and which
 * times does it give?
 *
 * One line of JSON on stdout:
 *
 *     {"ranks": 64, "nodes": 4, "network": "fat_tree", "room": 128,
 *      "links": 512, "classes": {"self": [...], "domain": [...], ...}}
 *
 * `network` is null where messages share no links. `classes` has each class
 * that rank 0 and another rank of the model belong to. For each it has what a
 * message costs by its bytes: [[bytes, send, latency, transfer, gap, receive,
 * rendezvous], ...], times in ns. A file that is no model: status 1, and a
 * sentence on stderr with the line.
 */
#include "vtime/base/commands.h"
#include "vtime/model/model_file.h"
#include "vtime/model/network.h"

#include <stdio.h>

static double ns(sw_ps_t ps)
{
    return (double)ps / (double)SW_PS_PER_NS;
}

static void costs(const sw_model_t *model, uint32_t to)
{
    static const uint64_t sizes[] = {0, 8, 1024, 65536, 1 << 20, 1 << 24};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sw_cost_t c;
        sw_model_message(model, 0, to, sizes[i], 0, &c);
        printf("%s[%llu, %.3f, %.3f, %.3f, %.3f, %.3f, %s]", i ? ", " : "",
               (unsigned long long)sizes[i], ns(c.send), ns(c.latency),
               ns(c.transfer), ns(c.gap), ns(c.receive),
               c.rendezvous ? "true" : "false");
    }
}

int sw_check_command(char **argv)
{
    static const char *const names[] = {"self", "domain", "node", "network"};
    sw_model_t model;
    char why[1024];
    if (!argv[0] || argv[1]) {
        fprintf(stderr, "straightway-whatif check: one model file is needed\n");
        return 2;
    }
    if (!sw_model_read(&model, argv[0], why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    printf("{\"ranks\": %u, \"nodes\": %u", model.ranks,
           sw_model_nodes(&model));
    if (model.network)
        printf(", \"network\": \"%s\", \"room\": %u, \"links\": %u",
               sw_network_name(model.network), sw_network_room(model.network),
               sw_network_links(model.network));
    else
        printf(", \"network\": null");
    printf(", \"classes\": {");
    bool shown[SW_CLASS_COUNT] = {false}, any = false;
    for (uint32_t rank = 0; rank < model.ranks; rank++) {
        sw_class_t class = sw_model_class(&model, 0, rank);
        if (shown[class])
            continue;
        shown[class] = true;
        printf("%s\"%s\": [", any ? ", " : "", names[class]);
        any = true;
        costs(&model, rank);
        printf("]");
    }
    printf("}}\n");
    sw_model_free(&model);
    return 0;
}
