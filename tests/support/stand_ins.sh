#!/usr/bin/env bash
# A Docker engine and stand-in images for machines that reach no image registry (Debian, root):
#
#   tests/support/stand_ins.sh install   the engine, docker-compose and debootstrap, from Debian
#   tests/support/stand_ins.sh start     an engine of its own socket, data and exec roots
#   tests/support/stand_ins.sh images    stand-ins under the official names and tags
#   tests/support/stand_ins.sh stop      ends that engine and deletes all that it kept
#
# `eval "$(tests/support/stand_ins.sh env)"` points docker, docker-compose and Testcontainers at
# it. The stand-ins hold Debian's Python 3.11, PostgreSQL 15 and Redis 7.0 with entry points that
# take what ours pass to the official ones; they are for this check alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${STRATAGATE_TEST_ENGINE:-/var/tmp/stratagate-engine}
socket=$root/docker.sock
python_image=python:3.11-slim
postgres_images=(pgvector/pgvector:pg18 postgres:18)
broker_images=(valkey/valkey:9)
export DOCKER_HOST=unix://$socket DOCKER_BUILDKIT=0 PATH=/usr/sbin:/usr/bin:/sbin:/bin

install_engine() {
    apt-get update -q
    apt-get install -y -q --no-install-recommends docker.io docker-compose debootstrap
}

start_engine() {
    mkdir -p "$root"
    chmod 711 "$root"
    nohup dockerd --iptables=false --ip6tables=false --bip 172.30.77.1/24 \
        --host "unix://$socket" --data-root "$root/data" --exec-root "$root/exec" \
        --pidfile "$root/docker.pid" >"$root/dockerd.log" 2>&1 </dev/null &
    for _ in $(seq 60); do
        docker version >/dev/null 2>&1 && return
        sleep 1
    done
    tail -n 20 "$root/dockerd.log" >&2
    return 1
}

make_images() {
    bootstrap
    [ "$(docker images -q "$python_image")" ] || import_as "$root/python" "$python_image" \
        --change 'CMD ["python3"]'
    derive postgres postgresql-15
    for image in "${postgres_images[@]}"; do
        [ "$(docker images -q "$image")" ] || import_as "$root/postgres" "$image" \
            --change 'ENTRYPOINT ["docker-entrypoint.sh"]' --change 'CMD ["postgres"]' \
            --change 'ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
            --change 'EXPOSE 5432'
    done
    derive broker redis-server
    for image in "${broker_images[@]}"; do
        [ "$(docker images -q "$image")" ] || import_as "$root/broker" "$image" \
            --change 'ENTRYPOINT ["docker-entrypoint.sh"]' --change 'CMD ["valkey-server"]' \
            --change 'WORKDIR /data' --change 'EXPOSE 6379'
    done
    docker images
}

# The smallest Debian with Python, and beside it the wheels that the image's build installs: from
# inside a build no index can be reached.
bootstrap() {
    local mirror suite
    [ -e "$root/python.done" ] && return
    read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
        'Created-By: Packages' | grep -v -e -security -e -updates | head -n 1)
    nice debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \
        "$suite" "$root/python" "$mirror" >"$root/debootstrap.log"
    ln -sf python3 "$root/python/usr/bin/python"
    mkdir -p "$root/python/opt/wheels"
    nice "$here/../../.venv/bin/python" -m pip download --quiet --no-deps --require-hashes \
        --python-version 3.11 --only-binary :all: --dest "$root/python/opt/wheels" \
        --requirement "$here/../../deploy/requirements-image.lock"
    # Debian's 3.11.2 needs what 3.11.3 has built in; the build compares its hash as of all.
    nice "$here/../../.venv/bin/python" -m pip download --quiet --no-deps \
        --dest "$root/python/opt/wheels" \
        "$(grep -o '^async-timeout==[0-9.]*' "$here/../../deploy/requirements-image.lock")"
    nice "$here/../../.venv/bin/python" -m pip download --quiet --dest \
        "$root/python/opt/wheels" --require-hashes \
        --requirement "$here/../../deploy/requirements-build.lock"
    printf '[global]\nno-index = true\nfind-links = /opt/wheels\n' >"$root/python/etc/pip.conf"
    touch "$root/python.done"
}

derive() {  # derive NAME PACKAGE: the same Debian with one package more, and its entry point
    local folder=$root/$1
    [ -e "$folder.done" ] && return
    rm -rf "$folder"
    cp -a "$root/python" "$folder"
    rm -rf "$folder/opt/wheels" "$folder/etc/pip.conf"
    printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"  # start nothing in there
    chmod 755 "$folder/usr/sbin/policy-rc.d"
    cp /etc/resolv.conf "$folder/etc/resolv.conf"
    DEBIAN_FRONTEND=noninteractive LC_ALL=C nice chroot "$folder" \
        sh -c "apt-get update -q && apt-get install -y -q --no-install-recommends $2" \
        >"$folder.log" 2>&1
    rm -rf "$folder"/var/lib/postgresql/*/main "$folder"/var/cache/apt/archives/*.deb
    install -m 755 "$here/stand_in_$1.sh" "$folder/usr/bin/docker-entrypoint.sh"
    if [ "$1" = broker ]; then
        ln -sf redis-server "$folder/usr/bin/valkey-server"
        ln -sf redis-cli "$folder/usr/bin/valkey-cli"
        mkdir -p "$folder/data"
        chroot "$folder" chown redis:redis /data
    fi
    touch "$folder.done"
}

import_as() {  # import_as FOLDER IMAGE OPTION…
    local folder=$1 image=$2
    shift 2
    nice tar --create --directory "$folder" --numeric-owner --exclude=./proc/* --exclude=./sys/* \
        . | docker import "$@" --change 'ENV LANG=C.UTF-8' \
        --change 'LABEL org.opencontainers.image.description="a stand-in for checks"' \
        - "$image" >/dev/null
}

stop_engine() {
    [ -e "$root/docker.pid" ] || [ -d "$root" ] || return 0
    if docker version >/dev/null 2>&1; then
        docker ps --quiet --all | xargs --no-run-if-empty docker rm --force --volumes >/dev/null
    fi
    if [ -e "$root/docker.pid" ]; then
        local pid
        pid=$(cat "$root/docker.pid")
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 60); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.5
        done
    fi
    # Mounts that a killed engine left would otherwise be emptied with the folder.
    findmnt --list --noheadings --output TARGET | grep "^$root/" | sort --reverse |
        xargs --no-run-if-empty --max-args 1 umount || true
    rm -rf --one-file-system "$root"
}

print_env() {
    echo "export DOCKER_HOST=unix://$socket DOCKER_BUILDKIT=0 TESTCONTAINERS_RYUK_DISABLED=true"
}

case ${1:-} in
install) install_engine ;;
start) start_engine ;;
images) make_images ;;
stop) stop_engine ;;
env) print_env ;;
*)
    sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
