/*
 * job.c - see job.h.
 */
#include "job.h"

#include "node/launcher.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

sw_job_t sw_job;
void (*sw_job_matched)(sw_job_matched_t *to);

uint64_t sw_job_cpu(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sw_job_epoch(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - sw_os_now();
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The argument after `at`, or NULL. */
static const char *next_argument(const char *at)
{
    const char *end = sw_job.arguments + sw_job.arguments_bytes;
    at += strlen(at) + 1;
    return at < end ? at : NULL;
}

/* An interpreter's name says little: the script's does. */
static const char *script(const char *program)
{
    if (strncmp(program, "python", 6))
        return program;
    const char *at = sw_job.arguments;
    while ((at = next_argument(at))) {
        if (!strcmp(at, "-m") || !strcmp(at, "-c")) {
            bool module = at[1] == 'm';
            at = next_argument(at);
            return module && at ? at : program;
        }
        if (!strcmp(at, "-W") || !strcmp(at, "-X"))
            at = next_argument(at);
        else if (*at != '-')
            return base_name(at);
        if (!at)
            break;
    }
    return program;
}

static void find_program(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0
                    ? -1
                    : read(fd, sw_job.arguments, sizeof sw_job.arguments - 1);
    if (fd >= 0)
        close(fd);
    sw_job.arguments_bytes = n > 0 ? (uint32_t)n : 0;
    const char *name = n > 0 ? base_name(sw_job.arguments)
                             : program_invocation_short_name;
    name = script(name);
    size_t length = sw_min(strlen(name), sizeof sw_job.program - 1);
    if (length > 3 && !strncmp(name + length - 3, ".py", 3))
        length -= 3;
    memcpy(sw_job.program, name, length);
    sw_job.program[length] = '\0';
    for (char *c = sw_job.program; *c; c++)
        if (*c == '/' || (unsigned char)*c <= ' ')
            *c = '_';
}

void sw_job_look(void)
{
    uint64_t mask[16];
    find_program();
    if (gethostname(sw_job.node, sizeof sw_job.node - 1))
        strcpy(sw_job.node, "unknown");
    sw_job.pid = getpid();
    sw_job.processors = sw_os_affinity(mask, 16);
    sw_job.node_processors = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static void name_job(void)
{
    const char *id = sw_launcher_job();
    if (id)
        snprintf(sw_job.id, sizeof sw_job.id, "%.*s", (int)strcspn(id, ". "),
                 id);
    else
        snprintf(sw_job.id, sizeof sw_job.id, "%d", (int)getpid());
}

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_taken(const char *path)
{
    struct stat st;
    return !lstat(path, &st);
}

/* What has this name makes room for the capture. A link does, not the file that
 * it leads to. Returns NULL, or why not. */
static const char *make_room(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return NULL;
    if (sw_os_is_special(path))
        return "it is there, and is no file";
    if (S_ISREG(st.st_mode) && access(path, W_OK))
        return "it is there, and cannot be written to";
    return unlink(path) ? "it is there, and cannot be replaced" : NULL;
}

/* `folder` + `file`, absolute, so that a chdir does not matter. */
static bool set_path(const char *folder, const char *file)
{
    size_t here = 0, room = sizeof sw_job.path;
    if (*folder != '/') {
        if (!getcwd(sw_job.path, room))
            return false;
        here = strlen(sw_job.path);
    }
    int n = snprintf(sw_job.path + here, room - here, "%s%s%s%s",
                     here ? "/" : "", folder, *folder ? "/" : "", file);
    return n > 0 && (size_t)n < room - here;
}

/* The job's own name for the file; with a number if there is one already. */
static bool name_file(const char *folder)
{
    char file[512];
    for (int i = 1; i < 10000; i++) {
        char again[16] = "";
        if (i > 1)
            snprintf(again, sizeof again, ".%d", i);
        snprintf(file, sizeof file, "%s.%d.%s%s.swcap", sw_job.program,
                 (int)sw_job.ranks, sw_job.id, again);
        if (!set_path(folder, file))
            return false;
        if (!is_taken(sw_job.path))
            return true;
    }
    return false;
}

const char *sw_job_name_capture(void)
{
    sw_job.began = (uint64_t)time(NULL);
    name_job();
    const char *given = sw_settings.profile_output;
    bool fits = !*given || is_folder(given) ? name_file(given)
                                            : set_path("", given);
    if (*given == '/' && !is_folder(given)) {
        fits = strlen(given) < sizeof sw_job.path;
        if (fits)
            strcpy(sw_job.path, given);
    }
    /* A file by name is the first job's. */
    if (fits && sw_job.spawned && *given && !is_folder(given)) {
        char number[24];
        snprintf(number, sizeof number, ".%d", (int)getpid());
        fits = strlen(sw_job.path) + strlen(number) < sizeof sw_job.path;
        if (fits)
            strcat(sw_job.path, number);
    }
    if (!fits)
        return "the path is too long";
    char *slash = strrchr(sw_job.path, '/');
    *slash = '\0';
    bool open = !access(*sw_job.path ? sw_job.path : "/", W_OK | X_OK);
    *slash = '/';
    if (!open)
        return "its folder cannot be written to";
    /* The user has named the file, so we replace an old one. */
    return make_room(sw_job.path);
}

bool sw_job_fall_back(void)
{
    const char *other = getenv("TMPDIR");
    uint64_t number;
    char folder[64];
    sw_os_random(&number, sizeof number);
    snprintf(folder, sizeof folder, "straightway-%016llx",
             (unsigned long long)number);
    sw_job.elsewhere = true;
    if (!set_path(other && *other ? other : "/tmp", folder))
        return false;
    static char private[sizeof sw_job.path]; /* once a process */
    strcpy(private, sw_job.path);
    return sw_os_private_folder(private) && name_file(private);
}

void sw_job_join(void)
{
    char *slash = strrchr(sw_job.path, '/');
    if (sw_job.elsewhere && slash) {
        *slash = '\0';
        sw_os_private_folder(sw_job.path);
        *slash = '/';
    }
}
