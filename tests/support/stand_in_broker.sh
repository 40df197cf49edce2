#!/bin/sh
# Entry point of the stand-in for the Valkey image: Debian's Redis under Valkey's command names.
set -eu

case ${1:-} in
-* | '') set -- valkey-server "$@" ;;
esac
# As in the official image, whose containers are reached from outside without a password too.
[ "$1" != valkey-server ] || set -- "$@" --protected-mode no
if [ "$(id -u)" = 0 ]; then
    chown redis:redis /data
    exec setpriv --reuid redis --regid redis --init-groups "$@"
fi
exec "$@"
