#!/bin/sh
# Entry point of the stand-in for the Valkey image: Debian's Redis under Valkey's command names.
set -eu

case ${1:-} in
-* | '') set -- valkey-server "$@" ;;
esac
if [ "$(id -u)" = 0 ]; then
    chown redis:redis /data
    exec setpriv --reuid redis --regid redis --init-groups "$@"
fi
exec "$@"
