/*
 * replay.c - straightway-whatif replay: operations of a file, timed by models.
 *
 *     replay [--check] MODEL OPS            one result (result.h) on stdout
 *     replay [--check] MODEL... -- OPS      {"results": [a result, ...]}
 *
 * OPS is a file of operations (ops/file.h), which replay reads once for each
 * model. A model must have as many ranks as the file. --check looks inside
 * whether an event is before its cause, and aborts. Status 1: replay cannot
 * read something, or there is no memory; 3: a model led to a deadlock, and
 * stderr lists what each rank waits for (the results are there, all the same).
 */
#include "vtime/base/commands.h"
#include "vtime/model/model_file.h"
#include "vtime/ops/file.h"
#include "vtime/ops/later.h"
#include "vtime/engine/engine_file.h"
#include "vtime/engine/result.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define EXTRAPOLATED "extrapolated" /* what their notes begin with */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The engine's part; it tells the result before it frees all. */
static int run(sw_model_t *model, sw_op_file_t *ops, bool check,
               const char *path)
{
    double began = now();
    sw_op_source_t source;
    sw_engine_options_t options = {.check = check};
    sw_op_rewind(ops);
    sw_op_source(ops, &source);
    sw_later_t *later = NULL;
    if (model->later &&
        (later = sw_later_new(&source, sw_op_ranks(ops), model->later)))
        sw_later_source(later, &source);
    sw_engine_t *engine = model->later && !later
                              ? NULL
                              : sw_engine_new(model, &source, &options);
    if (!engine || !sw_engine_contexts(engine, ops)) {
        sw_engine_free(engine);
        sw_later_free(later);
        fprintf(stderr, "%s: no memory for %u ranks\n", path, sw_op_ranks(ops));
        return 1;
    }
    sw_engine_state_t state = sw_engine_run(engine);
    const char *note = sw_op_note(ops);
    sw_result_t result = {
        .engine = engine,
        .state = state,
        .ranks = sw_op_ranks(ops),
        .sections = sw_op_sections(ops),
        .wall = now() - began,
        .damaged = sw_op_damaged(ops),
        .extrapolated = !strncmp(note, EXTRAPOLATED, strlen(EXTRAPOLATED)),
        .notes = {note, sw_op_damaged(ops)
                            ? "parts of the operations are damaged and left out"
                            : ""}};
    int status = 0;
    if (state == SW_ENGINE_MEMORY) {
        fprintf(stderr, "%s: there is not enough memory\n", path);
        status = 1;
    } else if (state == SW_ENGINE_WRONG) {
        char why[256];
        sw_engine_why(engine, why, sizeof why);
        fprintf(stderr, "%s: %s\n", path, why);
        status = 1;
    } else {
        sw_result_json(stdout, &result);
        if (state == SW_ENGINE_DEADLOCK) {
            fprintf(stderr, "%s: ", path);
            sw_result_stuck(stderr, &result);
            status = 3;
        }
    }
    sw_engine_free(engine);
    sw_later_free(later);
    return status;
}

static int replay(const char *path, sw_op_file_t *ops, bool check)
{
    sw_model_t model;
    char why[1024];
    if (!sw_model_read(&model, path, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int status = 1;
    if (model.ranks != sw_op_ranks(ops))
        fprintf(stderr,
                "%s is a model of %u ranks, the operations are those "
                "of %u: say `ranks %u`\n",
                path, model.ranks, sw_op_ranks(ops), sw_op_ranks(ops));
    else
        status = run(&model, ops, check, path);
    sw_model_free(&model);
    return status;
}

int sw_replay_command(char **argv)
{
    bool check = argv[0] && !strcmp(argv[0], "--check");
    char **models = argv + check, why[1024];
    int n = 0, most = 0;
    while (models[n] && strcmp(models[n], "--"))
        n++;
    bool several = models[n];
    char *path = several ? models[n + 1] : n == 2 ? models[1] : NULL;
    if (!path || !n || (several && models[n + 2])) {
        fprintf(stderr,
                "straightway-whatif replay [--check] MODEL OPS\n"
                "straightway-whatif replay [--check] MODEL... -- OPS\n");
        return 2;
    }
    sw_op_file_t *ops = sw_op_open(path, why, sizeof why);
    if (!ops) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (!several)
        n = 1;
    if (several)
        printf("{\"results\": [");
    for (int i = 0; i < n && most != 1; i++) {
        if (i)
            printf(", ");
        int status = replay(models[i], ops, check);
        most = status == 1 || !most ? status : most;
    }
    if (several)
        printf("]}\n");
    sw_op_close(ops);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "the results could not be written\n");
        return 1;
    }
    return most;
}
