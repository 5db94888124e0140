/*
 * launcher.c - which mpiexec starts a program.
 *
 * A launcher of another MPI starts N programs of one rank each, which looks
 * like success and is nonsense. So the program's own library decides: the
 * launcher lies in the bin/ of the installation whose libmpi the program
 * loads. Where two MPIs share a bin/ (Debian), the launcher's full name tells
 * (mpiexec.openmpi, mpiexec.mpich). A script does not show its MPI: there the
 * launcher beside its interpreter is taken, then the one in PATH.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum { ANY, OPENMPI, MPICH } family_t;

static const char *const names[][5] = {
    [ANY] = {"mpiexec", "mpirun", "mpiexec.hydra", NULL},
    [OPENMPI] = {"mpiexec.openmpi", "mpirun.openmpi", "mpiexec", "mpirun",
                 NULL},
    [MPICH] = {"mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun", NULL},
};

static bool runnable(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? sw_command_text("%.*s", (int)(slash - path), path)
                 : sw_command_text(".");
}

static bool has(const char *folder, const char *name)
{
    char *path = sw_command_text("%s/%s", folder, name);
    bool there = !access(path, F_OK);
    free(path);
    return there;
}

/* Whose launcher a file is: by the name behind its links (Debian's mpiexec
 * leads to orterun or mpiexec.hydra), else by what lies beside it. */
static family_t family_of(const char *launcher)
{
    char *real = realpath(launcher, NULL);
    if (!real)
        return ANY;
    const char *name = strrchr(real, '/') + 1;
    family_t family = ANY;
    static const char *const open[] = {"openmpi", "orterun", "prte", "ompi"};
    static const char *const hydra[] = {"hydra", "mpich", "gforker"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strstr(name, open[i]))
            family = OPENMPI;
    for (size_t i = 0; i < sizeof hydra / sizeof *hydra; i++)
        if (strstr(name, hydra[i]))
            family = MPICH;
    if (family == ANY &&
        (!strcmp(name, "mpiexec") || !strcmp(name, "mpirun"))) {
        char *folder = folder_of(real);
        if (has(folder, "ompi_info") && !has(folder, "mpichversion"))
            family = OPENMPI;
        else if (has(folder, "mpiexec.hydra") || has(folder, "mpichversion"))
            family = MPICH;
        free(folder);
    }
    free(real);
    return family;
}

/* Where /bin is a link, what lies in it is /usr's: Open MPI's launcher takes
 * the folder above its own for its installation's, and refuses the root. */
static const char *folder_named(const char *folder)
{
    struct stat root, usr;
    bool same = !strcmp(folder, "/bin") && !stat("/bin", &root) &&
                !stat("/usr/bin", &usr) && root.st_dev == usr.st_dev &&
                root.st_ino == usr.st_ino;
    return same ? "/usr/bin" : folder;
}

static char *find_in_folder(const char *folder, family_t family)
{
    folder = folder_named(folder);
    for (int i = 0; names[family][i]; i++) {
        char *path = sw_command_text("%s/%s", folder, names[family][i]);
        if (runnable(path)) {
            family_t found = family_of(path);
            if (family == ANY || found == ANY || found == family)
                return path;
        }
        free(path);
    }
    return NULL;
}

static char *find_in_path(family_t family)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        int n = (int)strcspn(path, ":");
        char *folder = n ? sw_command_text("%.*s", n, path)
                         : sw_command_text(".");
        char *found = find_in_folder(folder, family);
        free(folder);
        if (found || !path[n])
            return found;
        path += n + 1;
    }
}

/* PREFIX/lib, PREFIX/lib/release, PREFIX/lib/x86_64-linux-gnu/openmpi/lib:
 * the bin/ is one to four folders up. */
static char *find_near_library(const char *library, family_t family)
{
    char *folder = folder_of(library), *found = NULL;
    for (int up = 0; up < 5 && !found && *folder; up++) {
        char *bin = sw_command_text("%s/bin", folder);
        found = find_in_folder(bin, family);
        free(bin);
        char *next = folder_of(folder);
        free(folder);
        folder = next;
    }
    free(folder);
    return found;
}

static family_t family_of_library(const char *library)
{
    const char *slash = strrchr(library, '/');
    const char *name = slash ? slash + 1 : library;
    if (!strncmp(name, "libmpi.so.12", 12) || !strncmp(name, "libmpich", 8))
        return MPICH;
    if (!strncmp(name, "libmpi.so", 9))
        return OPENMPI;
    return ANY;
}

static void done(sw_launcher_t *to, char *path, const char *why)
{
    to->path = path;
    to->why = why;
    to->openmpi = family_of(path) == OPENMPI;
}

/* --mpi: a launcher, an installation, or a name. */
static void find_named(const char *mpi, sw_launcher_t *to)
{
    if (strchr(mpi, '/') || !access(mpi, F_OK)) {
        if (runnable(mpi)) {
            done(to, sw_command_text("%s", mpi), "given with --mpi");
            return;
        }
        char *bin = sw_command_text("%s/bin", mpi);
        char *found = find_in_folder(bin, ANY);
        if (!found)
            found = find_in_folder(mpi, ANY);
        if (!found)
            sw_command_fail(SW_EXIT_USAGE, "--mpi %s: no mpiexec in %s", mpi,
                            bin);
        done(to, found, "in the installation given with --mpi");
        return;
    }
    static const struct {
        const char *name;
        family_t family;
        const char *folders[4];
    } known[] = {
        {"openmpi",
         OPENMPI,
         {"/usr/lib64/openmpi/bin", "/opt/openmpi/bin",
          "/usr/local/openmpi/bin", NULL}},
        {"mpich", MPICH, {"/usr/lib64/mpich/bin", "/opt/mpich/bin", NULL}},
        {"intel", MPICH, {"/opt/intel/oneapi/mpi/latest/bin", NULL}},
        {"impi", MPICH, {"/opt/intel/oneapi/mpi/latest/bin", NULL}},
    };
    static const char *const words[] = {"openmpi", "mpich", "intel", "impi",
                                        NULL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(mpi, known[i].name))
            continue;
        char *found = NULL;
        if (i < 2) {
            found = find_in_folder(sw_command_bin_dir(), known[i].family);
            if (!found)
                found = find_in_path(known[i].family);
        } else if (getenv("I_MPI_ROOT")) {
            char *bin = sw_command_text("%s/bin", getenv("I_MPI_ROOT"));
            found = find_in_folder(bin, MPICH);
        } else if ((found = sw_command_find_program("impi_info"))) {
            found = find_in_folder(folder_of(found), MPICH);
        }
        for (int k = 0; !found && known[i].folders[k]; k++)
            found = find_in_folder(known[i].folders[k], known[i].family);
        if (!found)
            sw_command_fail(
                SW_EXIT_FAILURE,
                "--mpi %s: no launcher of it in PATH nor "
                "in its usual folders\n"
                "  give the folder it is installed in: --mpi /path/to/mpi",
                mpi);
        done(to, found, "of the MPI named with --mpi");
        return;
    }
    char *program = sw_command_find_program(mpi); /* --mpi srun */
    if (program) {
        done(to, program, "given with --mpi");
        return;
    }
    const char *near = sw_command_nearest(mpi, words);
    if (near)
        sw_command_fail(SW_EXIT_USAGE, "--mpi %s: unknown; did you mean %s?",
                        mpi, near);
    sw_command_fail(SW_EXIT_USAGE,
                    "--mpi %s: neither a folder, nor a launcher, nor "
                    "one of openmpi, mpich, intel",
                    mpi);
}

/* The folders of the interpreter that runs `program`: scripts show no MPI. */
static char *find_near_interpreter(const char *program, const char **why)
{
    sw_file_t file;
    sw_record_file_read(program, &file);
    char *interpreter = file.kind == SW_FILE_SCRIPT && *file.interpreter
                            ? sw_command_find_program(file.interpreter)
                            : sw_command_text("%s", program);
    char *found = NULL;
    *why = "beside the interpreter";
    if (interpreter)
        found = find_in_folder(folder_of(interpreter), ANY);
    if (!found) {
        *why = "beside straightway";
        found = find_in_folder(sw_command_bin_dir(), ANY);
    }
    if (!found) {
        *why = "the first in PATH";
        found = find_in_path(ANY);
    }
    return found;
}

void sw_find_launcher(const char *program, const char *mpi, sw_launcher_t *to)
{
    if (mpi) {
        find_named(mpi, to);
        return;
    }
    char *library = sw_command_find_mpi_library(program);
    if (library) {
        family_t family = family_of_library(library);
        char *found = find_near_library(library, family);
        char *real = found ? NULL : realpath(library, NULL);
        if (real)
            found = find_near_library(real, family);
        if (found) {
            done(to, found, sw_command_text("the program loads %s", library));
            return;
        }
        if ((found = find_in_path(family)) && family != ANY) {
            done(to, found, "the first in PATH of the program's MPI");
            return;
        }
        sw_command_fail(
            SW_EXIT_FAILURE,
            "%s loads %s, and no launcher of that MPI "
            "was found\n  name its installation: --mpi /path/to/mpi",
            program, library);
    }
    const char *why;
    char *found = find_near_interpreter(program, &why);
    if (!found)
        sw_command_fail(
            SW_EXIT_FAILURE,
            "no MPI launcher (mpiexec) beside %s nor in "
            "PATH\n  name an installation: --mpi /path/to/mpi, or start "
            "the ranks yourself:\n  LAUNCHER -n N straightway run %s",
            program, program);
    done(to, found, why);
}
