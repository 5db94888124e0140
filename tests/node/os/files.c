/*
 * Files by name in a folder that other users may write to: another user may
 * have put anything under a name beforehand, and nothing of ours goes through
 * it.
 */
#include "must.h"

#include "node/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER 54321 /* a user that is not this one */
#define WRITERS 4
#define FILES 100

static char shared[64], victim[80];

static const char *in(const char *folder, const char *name)
{
    static char path[32][200];
    static int turn;
    char *to = path[turn++ % 32];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static off_t size_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? -1 : st.st_size;
}

static bool appends(const char *path)
{
    int fd = sw_os_open_append(path);
    if (fd < 0)
        return false;
    MUST(!sw_os_write_all(fd, "more", 4));
    close(fd);
    return true;
}

/* Folders -------------------------------------------------------------- */

static void others_cannot_choose_the_file(void)
{
    put(victim, "precious");
    MUST(!symlink(victim, in(shared, "link")));
    MUST(!symlink(in(shared, "nothing"), in(shared, "dangling")));
    MUST(!link(victim, in(shared, "hard")));
    MUST(!mkfifo(in(shared, "fifo"), 0666));
    MUST(!appends(in(shared, "link")));
    MUST(!appends(in(shared, "dangling")));
    MUST(!appends(in(shared, "hard")) && errno == EPERM);
    MUST(!appends(in(shared, "fifo")));
    int reader = open(in(shared, "fifo"), O_RDONLY | O_NONBLOCK);
    MUST(!appends(in(shared, "fifo")) && errno == EPERM);
    close(reader);
    MUST(size_of(in(shared, "nothing")) < 0);
    MUST(size_of(victim) == 8);
}

static void others_cannot_give_us_theirs(void)
{
    const char *given = in(shared, "given");
    if (geteuid()) /* only root gives files away */
        return;
    put(given, "");
    MUST(!chown(given, OTHER, OTHER));
    MUST(!appends(given) && errno == EPERM);
    /* The folder's owner may do anything there. */
    MUST(!chown(shared, OTHER, OTHER));
    MUST(appends(given) && size_of(given) == 4);
    MUST(!chown(shared, geteuid(), getegid()));
    unlink(given);
}

static void own_files_are_appended_to(void)
{
    const char *own = in(shared, "own");
    MUST(appends(own) && appends(own) && size_of(own) == 8);
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    MUST(!stat(own, &st) && (st.st_mode & 0777) == (0666 & ~mask));
    /* Where no other user may write, the user's own links are allowed. */
    char private[80];
    snprintf(private, sizeof private, "%s/private", shared);
    MUST(sw_os_private_folder(private));
    put(in(private, "one"), "");
    MUST(!link(in(private, "one"), in(private, "two")));
    MUST(appends(in(private, "two")) && size_of(in(private, "one")) == 4);
}

static void a_new_file_replaces_a_link(void)
{
    MUST(!symlink(victim, in(shared, "new")));
    int fd = sw_os_open_new(in(shared, "new"));
    MUST(fd >= 0 && !sw_os_write_all(fd, "mine", 4));
    close(fd);
    MUST(size_of(in(shared, "new")) == 4 && size_of(victim) == 8);
}

static bool takes_the_place_of(const char *path)
{
    char draft[240];
    int fd = sw_os_open_new(path);
    int other = sw_os_open_draft(path, draft, sizeof draft);
    MUST((fd < 0) == (other < 0) && (fd >= 0 || errno == EEXIST));
    MUST(sw_os_is_special(path) == (fd < 0));
    if (fd < 0)
        return false;
    close(fd);
    close(other);
    MUST(!unlink(draft));
    return true;
}

static mode_t sort_of(const char *path)
{
    struct stat st;
    MUST(!lstat(path, &st));
    return st.st_mode & S_IFMT;
}

static void a_new_file_replaces_no_device(void)
{
    const char *fifo = in(shared, "fifo"), *device = in(shared, "device");
    const char *to_fifo = in(shared, "to fifo"), *folder = in(shared, "inner");
    MUST(!symlink(fifo, to_fifo) && !mkdir(folder, 0700));
    MUST(!takes_the_place_of(fifo) && sort_of(fifo) == S_IFIFO);
    MUST(!takes_the_place_of(to_fifo) && sort_of(to_fifo) == S_IFLNK);
    MUST(!takes_the_place_of(folder) && sort_of(folder) == S_IFDIR);
    if (!mknod(device, S_IFCHR | 0600, makedev(1, 3)))
        MUST(!takes_the_place_of(device) && sort_of(device) == S_IFCHR);
    MUST(takes_the_place_of(in(shared, "free")));
    MUST(takes_the_place_of(in(shared, "free")));
}

static void drafts_have_names_that_nobody_guesses(void)
{
    char one[200], two[200], small[8];
    int a = sw_os_open_draft(in(shared, "draft"), one, sizeof one);
    int b = sw_os_open_draft(in(shared, "draft"), two, sizeof two);
    MUST(a >= 0 && b >= 0 && strcmp(one, two));
    MUST(strlen(one) < strlen(in(shared, "draft")) + SW_OS_DRAFT);
    MUST(!size_of(one) && !size_of(two));
    close(a);
    close(b);
    MUST(sw_os_open_draft(in(shared, "draft"), small, sizeof small) < 0);
}

static void private_folders_are_private(void)
{
    struct stat st;
    const char *folder = in(shared, "folder");
    MUST(sw_os_private_folder(folder) && sw_os_private_folder(folder));
    MUST(!stat(folder, &st) && (st.st_mode & 0777) == 0700);
    MUST(!symlink(folder, in(shared, "to folder")));
    MUST(!sw_os_private_folder(in(shared, "to folder")));
    MUST(!chmod(folder, 0770) && !sw_os_private_folder(folder));
    if (!geteuid()) {
        MUST(!chmod(folder, 0700) && !chown(folder, OTHER, OTHER));
        MUST(!sw_os_private_folder(folder));
    }
}

/* One of them makes it, and all append. */
static void many_begin_a_file_at_once(void)
{
    for (int w = 0; w < WRITERS; w++) {
        pid_t child = fork();
        MUST(child >= 0);
        for (int i = 0; !child && i < FILES; i++) {
            char name[16];
            snprintf(name, sizeof name, "many%d", i);
            if (!appends(in(shared, name)))
                _exit(1);
        }
        if (!child)
            _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        MUST(wait(&status) > 0 && !status);
    }
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "many%d", i);
        MUST(size_of(in(shared, name)) == 4 * WRITERS);
    }
}

int main(void)
{
    const char *temp = getenv("TMPDIR");
    char top[40], command[80];
    snprintf(top, sizeof top, "%.24s/files.XXXXXX",
             temp && strlen(temp) < 24 ? temp : "/tmp");
    MUST(mkdtemp(top));
    snprintf(victim, sizeof victim, "%s/victim", top);
    snprintf(shared, sizeof shared, "%s/shared", top);
    MUST(!mkdir(shared, 0777) && !chmod(shared, 01777));
    others_cannot_choose_the_file();
    others_cannot_give_us_theirs();
    own_files_are_appended_to();
    a_new_file_replaces_a_link();
    a_new_file_replaces_no_device();
    drafts_have_names_that_nobody_guesses();
    private_folders_are_private();
    many_begin_a_file_at_once();
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command) != 0;
}
