# Build the Debian package of this clone into build/deb, with the environment
# whose Python is $1. The root of the repository has no debian/: this script puts
# packaging/debian where dpkg-buildpackage wants it. The build takes the headers
# of Debian's MPIs. Debian has no pympistandard: that is the environment's.
set -e
py=$1
if command -v dpkg-buildpackage >/dev/null; then :; else
    echo 'make deb: no dpkg-buildpackage (apt-get install dpkg-dev)' >&2
    exit 1
fi
version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
version=${version%-*}
folder=$PWD/build/deb
tree=$folder/straightway-$version
rm -rf "$folder"
mkdir -p "$tree" "$folder/python"

tar -c --exclude=__pycache__ CMakeLists.txt pyproject.toml LICENSE README.md \
    CHANGELOG.md SECURITY.md bench cmake include packaging src straightway |
    tar -x -C "$tree"
tar -C "$folder" -czf "$folder/straightway_$version.orig.tar.gz" \
    "straightway-$version"
cp -r packaging/debian "$tree/debian"
cp -r "$("$py" -c 'import pympistandard as p; print(p.__path__[0])')" \
    "$folder/python"

cd "$tree"
if dpkg-checkbuilddeps; then :; else
    echo 'make deb: apt-get install these' >&2
    exit 1
fi
if STRAIGHTWAY_PYMPISTANDARD=$folder/python dpkg-buildpackage -us -uc \
        >"$folder/build.log" 2>&1 </dev/null; then
    # What was left out, and why, is no secret.
    sed -n 's/^-- \(Headers of flavour .*: NONE\)/\1/p' "$folder/build.log" >&2
    ls "$folder"/*.deb
else
    tail -n 60 "$folder/build.log" >&2
    echo "make deb: the build failed; all of it is in $folder/build.log" >&2
    exit 1
fi
