# root.sh ROOT COMMAND...: COMMAND in the system of this folder, with what a
# system has of its kernel. `unshare --mount` starts this script, and the mounts
# end with it. Variables of pip come along, for this machine may need them.
set -eu
root=$1
shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    [ ! -e "$file" ] || cp "$file" "$root/etc/"
done
certificate=
if [ -n "${PIP_CERT:-}" ]; then
    cp "$PIP_CERT" "$root/tmp/certificates.pem"
    certificate=PIP_CERT=/tmp/certificates.pem
fi
exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb \
    PATH=/opt/sw/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} $certificate \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"
