# List what a user gets with the wheel of this machine: sbom.sh PYTHON. The list
# (SBOM) is CycloneDX's JSON: Straightway and the packages that pip installs for
# its commands, with versions and licences. `make wheel` comes first.
set -e
py=$1
wheel=$(ls build/dist/straightway-*_"$(uname -m)".whl)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$py" -m venv "$folder/user"
"$folder/user/bin/python" -m pip --disable-pip-version-check --quiet \
    install "$wheel"
"$folder/user/bin/python" -m pip --disable-pip-version-check --quiet \
    uninstall --yes pip setuptools
list=${wheel%-py3-*}.cdx.json
"$py" -m cyclonedx_py environment --pyproject pyproject.toml \
    --output-reproducible --output-file "$list" "$folder/user/bin/python"
echo "$list"
