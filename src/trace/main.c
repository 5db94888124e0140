/*
 * main.c - straightway-trace: the commands that go through every event of a
 * trace.
 *
 *   straightway-trace perfetto OUT FILE... <NAMES
 *
 * writes the events of the files as a Perfetto trace. NAMES is what names.h
 * describes; ranks that it does not name are left out. Says in JSON on stdout
 * what was written and what could not be read:
 *
 *   {"events": 10, "unnamed": 0, "bytes": 900,
 *    "files": [{"blocks": 1, "damaged": 0, "cut": false}]}
 *
 *   straightway-trace gaps FILE...
 *
 * adds up how long ranks compute beside their calls, as rows of gaps.h:
 *
 *   {"gaps": [[0, 0, 1, 10, 4000, 5000, 300, 300], ...]}
 *
 * Status 1, and a sentence on stderr, when it had to stop.
 */
#include "gaps.h"
#include "perfetto.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *path, int error)
{
    fprintf(stderr, "%s: %s\n", path,
            error == EINVAL ? "no capture file" : strerror(error));
    return 1;
}

/* Files are named as they come, and so are their figures. */
static int add_files(sw_perfetto_t *p, char **files, const char *out)
{
    printf("{\"files\": [");
    for (char **file = files; *file; file++) {
        sw_trace_reader_t reader;
        int error = sw_trace_open(&reader, *file);
        if (!error && !sw_perfetto_add(p, &reader))
            error = reader.error;
        printf("%s{\"blocks\": %llu, \"damaged\": %llu, \"cut\": %s}",
               file == files ? "" : ", ", (unsigned long long)reader.blocks,
               (unsigned long long)reader.damaged,
               reader.cut ? "true" : "false");
        sw_trace_close(&reader);
        if (error)
            return fail(*file, error);
        if (p->out.error)
            break;
    }
    return sw_perfetto_end(p) ? 0 : fail(out, p->out.error);
}

static int perfetto(char **argv)
{
    const char *out = argv[0];
    sw_names_t names;
    sw_perfetto_t p;
    if (!sw_names_read(&names, stdin)) {
        sw_names_free(&names);
        return fail("the names", ENOMEM);
    }
    int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        sw_names_free(&names);
        return fail(out, errno);
    }
    sw_perfetto_begin(&p, &names, fd);
    int rc = add_files(&p, argv + 1, out);
    if (close(fd) && !rc)
        rc = fail(out, errno);
    printf("], \"events\": %llu, \"unnamed\": %llu, \"bytes\": %llu}\n",
           (unsigned long long)p.events, (unsigned long long)p.unnamed,
           (unsigned long long)p.out.written);
    sw_perfetto_free(&p);
    sw_names_free(&names);
    return rc;
}

static int gaps(char **files)
{
    sw_gaps_t found = {0};
    int rc = 0;
    for (char **file = files; *file && !rc; file++) {
        sw_trace_reader_t reader;
        int error = sw_trace_open(&reader, *file);
        if (!error && !sw_gaps_add(&found, &reader))
            error = ENOMEM;
        else if (!error)
            error = reader.error;
        sw_trace_close(&reader);
        if (error)
            rc = fail(*file, error);
    }
    if (!rc) {
        printf("{\"gaps\": [");
        sw_gaps_put(&found, stdout);
        printf("]}\n");
    }
    sw_gaps_free(&found);
    return rc;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* too large a file is an error like others */
    if (argc >= 4 && !strcmp(argv[1], "perfetto"))
        return perfetto(argv + 2);
    if (argc >= 3 && !strcmp(argv[1], "gaps"))
        return gaps(argv + 2);
    fprintf(stderr, "straightway-trace perfetto OUT FILE... <NAMES\n"
                    "straightway-trace gaps FILE...\n");
    return 2;
}
