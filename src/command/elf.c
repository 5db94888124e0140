/*
 * elf.c - what a program is, read from its first bytes, and which MPI library
 * the dynamic linker will give it.
 *
 * The file is mapped and every offset is checked against its size: a damaged
 * file is "other", never a fault. Libraries are looked for in the dynamic
 * linker's order: DT_RPATH (only where there is no DT_RUNPATH),
 * LD_LIBRARY_PATH, DT_RUNPATH, the cache of ldconfig, the default folders.
 * Nothing is loaded: loading an MPI costs more than all the rest here.
 */
#include "command.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

typedef struct {
    const char *at;
    size_t size;
} bytes_t;

static bool map_file(const char *path, bytes_t *to)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    to->at = MAP_FAILED;
    to->size = 0;
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
        to->size = (size_t)st.st_size;
        to->at = mmap(NULL, to->size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return to->at != MAP_FAILED;
}

/* `n` bytes at `offset`, or NULL where the file has not so many. */
static const void *part(bytes_t file, uint64_t offset, uint64_t n)
{
    if (offset > file.size || n > file.size - offset)
        return NULL;
    return file.at + offset;
}

static char *string_at(bytes_t file, uint64_t offset)
{
    if (offset >= file.size)
        return NULL;
    size_t n = strnlen(file.at + offset, file.size - offset);
    return n < file.size - offset ? sw_command_text("%s", file.at + offset)
                                  : NULL;
}

/* A virtual address as an offset in the file, or UINT64_MAX. */
static uint64_t offset_of(const Elf64_Phdr *segments, int count,
                          uint64_t address)
{
    for (int i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return segments[i].p_offset + (address - segments[i].p_vaddr);
    return UINT64_MAX;
}

static void read_dynamic(bytes_t file, const Elf64_Phdr *segments, int count,
                         const Elf64_Phdr *dynamic, sw_file_t *to)
{
    const Elf64_Dyn *entry = part(file, dynamic->p_offset, dynamic->p_filesz);
    size_t entries = dynamic->p_filesz / sizeof *entry;
    if (!entry)
        return;
    uint64_t strings = UINT64_MAX;
    for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; i++)
        if (entry[i].d_tag == DT_STRTAB)
            strings = offset_of(segments, count, entry[i].d_un.d_ptr);
    if (strings == UINT64_MAX)
        return;
    int needed = 0;
    for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; i++) {
        uint64_t at = strings + entry[i].d_un.d_val;
        if (entry[i].d_tag == DT_NEEDED && needed < SW_NEEDED_MAX - 1) {
            if ((to->needed[needed] = string_at(file, at)))
                needed++;
        } else if (entry[i].d_tag == DT_RPATH) {
            to->rpath = string_at(file, at);
        } else if (entry[i].d_tag == DT_RUNPATH) {
            to->runpath = string_at(file, at);
        }
    }
}

static void read_elf(bytes_t file, sw_file_t *to)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof *header);
    to->kind = SW_FILE_ELF;
    to->wide = file.size > EI_CLASS && file.at[EI_CLASS] == ELFCLASS64;
    if (!to->wide || !header)
        return;
    to->machine = header->e_machine;
    to->native = header->e_machine == MACHINE &&
                 header->e_phentsize == sizeof(Elf64_Phdr);
    const Elf64_Phdr *segments = part(
        file, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments);
    if (!to->native || !segments)
        return;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP)
            to->dynamic = true;
        else if (segments[i].p_type == PT_DYNAMIC)
            read_dynamic(file, segments, header->e_phnum, &segments[i], to);
    }
}

/* "#!/usr/bin/env python3" names python3, "#!/usr/bin/python3 -u" itself. */
static void read_script(bytes_t file, sw_file_t *to)
{
    char line[512];
    size_t n = file.size - 2 < sizeof line - 1 ? file.size - 2
                                               : sizeof line - 1;
    memcpy(line, file.at + 2, n);
    line[n] = 0;
    line[strcspn(line, "\r\n")] = 0;
    to->kind = SW_FILE_SCRIPT;
    char *rest, *word = strtok_r(line, " \t", &rest);
    if (!word)
        return;
    const char *slash = strrchr(word, '/');
    if (!strcmp(slash ? slash + 1 : word, "env"))
        while ((word = strtok_r(NULL, " \t", &rest)) &&
               (*word == '-' || strchr(word, '=')))
            ;
    if (word)
        snprintf(to->interpreter, sizeof to->interpreter, "%s", word);
}

void sw_record_file_read(const char *path, sw_file_t *to)
{
    memset(to, 0, sizeof *to);
    bytes_t file;
    if (!map_file(path, &file))
        return;
    to->kind = SW_FILE_OTHER;
    if (file.size >= EI_NIDENT && !memcmp(file.at, ELFMAG, SELFMAG))
        read_elf(file, to);
    else if (file.size > 2 && !memcmp(file.at, "#!", 2))
        read_script(file, to);
    munmap((void *)file.at, file.size);
}

static void file_release(sw_file_t *file)
{
    for (int i = 0; file->needed[i]; i++)
        free(file->needed[i]);
    free(file->rpath);
    free(file->runpath);
}

char *sw_command_find_program(const char *name)
{
    if (strchr(name, '/'))
        return sw_command_text("%s", name);
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        int n = (int)strcspn(path, ":");
        char *full = n ? sw_command_text("%.*s/%s", n, path, name)
                       : sw_command_text("./%s", name);
        struct stat st;
        if (!stat(full, &st) && S_ISREG(st.st_mode) && !access(full, X_OK))
            return full;
        free(full);
        if (!path[n])
            return NULL;
        path += n + 1;
    }
}

/* Libraries -------------------------------------------------------------- */

/* A library of this machine's kind: the linker passes over others. */
static bool usable_library(const char *path)
{
    char head[sizeof(Elf64_Ehdr)];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof head);
    close(fd);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)head;
    return n == sizeof head && !memcmp(head, ELFMAG, SELFMAG) &&
           head[EI_CLASS] == ELFCLASS64 && header->e_machine == MACHINE;
}

/* Look in a list of folders; $ORIGIN is the folder of `user`. */
static char *find_in(const char *folders, const char *separators,
                     const char *name, const char *user)
{
    if (!folders)
        return NULL;
    char *real = realpath(user, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = 0;
    char *found = NULL;
    while (!found) {
        int n = (int)strcspn(folders, separators);
        static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
        char *path = NULL;
        for (int i = 0; i < 2 && !path; i++) {
            int m = (int)strlen(origins[i]);
            if (n >= m && !strncmp(folders, origins[i], (size_t)m))
                path = sw_command_text("%s%.*s/%s", real ? real : ".", n - m,
                                       folders + m, name);
        }
        if (!path)
            path = n ? sw_command_text("%.*s/%s", n, folders, name)
                     : sw_command_text("./%s", name);
        if (usable_library(path))
            found = path;
        else
            free(path);
        if (!folders[n])
            break;
        folders += n + 1;
    }
    free(real);
    return found;
}

/* /etc/ld.so.cache, in the format that glibc has written since 2.2:
 *
 *   "glibc-ld.so.cache" "1.1"  count  bytes of strings  5 words reserved
 *   count times: flags  name  path  os version  hardware capabilities (64 bit)
 *
 * names and paths are offsets from the start of this table. */
static char *find_in_cache(const char *name)
{
    struct entry {
        int32_t flags;
        uint32_t name, path, version;
        uint64_t capabilities;
    };
    static const char magic[] = "glibc-ld.so.cache1.1";
    const size_t header = 48;
    bytes_t file;
    if (!map_file("/etc/ld.so.cache", &file))
        return NULL;
    char *found = NULL;
    const char *start = memmem(file.at, file.size, magic, sizeof magic - 1);
    if (start) {
        bytes_t table = {start, file.size - (size_t)(start - file.at)};
        uint32_t count = 0;
        if (part(table, 0, header))
            memcpy(&count, start + sizeof magic - 1, sizeof count);
        const char *entries = part(table, header,
                                   (uint64_t)count * sizeof(struct entry));
        for (uint32_t i = 0; entries && i < count && !found; i++) {
            struct entry e;
            memcpy(&e, entries + i * sizeof e, sizeof e);
            if (e.name >= table.size || e.path >= table.size ||
                strncmp(start + e.name, name, table.size - e.name))
                continue;
            char *path = string_at(table, e.path);
            if (path && usable_library(path))
                found = path;
            else
                free(path);
        }
    }
    munmap((void *)file.at, file.size);
    return found;
}

static char *find_library(const char *name, const sw_file_t *file,
                          const char *user)
{
    if (strchr(name, '/'))
        return sw_command_text("%s", name);
    char *path = NULL;
    if (!file->runpath)
        path = find_in(file->rpath, ":", name, user);
    if (!path) {
        const char *folders = getenv("LD_LIBRARY_PATH");
        path = find_in(folders && *folders ? folders : NULL, ":;", name, user);
    }
    if (!path)
        path = find_in(file->runpath, ":", name, user);
    if (!path)
        path = find_in_cache(name);
    if (!path)
        path = find_in("/lib64:/usr/lib64:/lib:/usr/lib", ":", name, user);
    return path;
}

bool sw_command_is_sanitizer(const char *name)
{
    static const char *const names[] = {"libasan.so",        "libtsan.so",
                                        "liblsan.so",        "libhwasan.so",
                                        "libclang_rt.asan",  "libclang_rt.tsan",
                                        "libclang_rt.hwasan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

char *sw_command_find_sanitizer(const char *path)
{
    sw_file_t file;
    char *found = NULL;
    sw_record_file_read(path, &file);
    for (int i = 0; file.needed[i] && !found; i++)
        if (sw_command_is_sanitizer(file.needed[i]))
            found = find_library(file.needed[i], &file, path);
    file_release(&file);
    return found;
}

/* libmpi.so.40, libmpi.so.12, libmpi_abi.so.1, libmpich.so.12: the library
 * that holds MPI_Init. libmpi_mpifh, libmpifort and the like only call it. */
static bool is_mpi(const char *name)
{
    return !strncmp(name, "libmpi.so", 9) ||
           !strncmp(name, "libmpi_abi.so", 13) ||
           !strncmp(name, "libmpich.so", 11);
}

/* Libraries that are never the way to an MPI, and are in every program. */
static bool is_system(const char *name)
{
    static const char *const names[] = {
        "libc.so",        "libm.so",        "libdl.so",     "libpthread.so",
        "librt.so",       "libgcc_s.so",    "libstdc++.so", "ld-linux",
        "libgfortran.so", "libquadmath.so", "libutil.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

char *sw_command_find_mpi_library(const char *path)
{
    /* Breadth first, as the linker loads: the program's own need wins. */
    enum { MOST = 256 };
    static char *queue[MOST];
    int head = 0, tail = 0;
    queue[tail++] = sw_command_text("%s", path);
    while (head < tail) {
        sw_file_t file;
        const char *user = queue[head++];
        sw_record_file_read(user, &file);
        for (int i = 0; file.needed[i]; i++)
            if (is_mpi(file.needed[i]))
                return find_library(file.needed[i], &file, user);
        for (int i = 0; file.needed[i]; i++) {
            if (is_system(file.needed[i]) || tail == MOST)
                continue;
            char *found = find_library(file.needed[i], &file, user);
            bool seen = !found;
            for (int k = 0; k < tail && !seen; k++)
                seen = !strcmp(queue[k], found);
            if (!seen)
                queue[tail++] = found;
        }
        file_release(&file);
    }
    return NULL;
}
