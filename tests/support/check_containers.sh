#!/usr/bin/env bash
# Builds the image, starts deploy/compose.yaml and walks it from outside, on the engine that
# DOCKER_HOST names; see docs/howto/check-containers.md.
#
#   tests/support/check_containers.sh build    the image, by the classic builder
#   tests/support/check_containers.sh up       the system, with secrets made up for it
#   tests/support/check_containers.sh walk     the acceptance walk, and what the containers are
#   tests/support/check_containers.sh down     ends it and deletes its volumes
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
state=${STRATAGATE_TEST_ENGINE:-/var/tmp/stratagate-engine}/check
python=$project/.venv/bin/python
export DOCKER_BUILDKIT=0

compose() {
    docker-compose --env-file "$state/env" --file "$project/deploy/compose.yaml" "$@"
}

build() {
    nice docker build --network host --file "$project/deploy/Dockerfile" --tag stratagate:0.1.0 \
        --build-arg "REVISION=$(git -C "$project" rev-parse HEAD)" "$project"
}

up() {
    mkdir -p "$state"
    # Ports of its own, so that it can run beside a local stack; secrets where the example has none.
    # Once made they stay: the volumes know them.
    [ -e "$state/env" ] || (umask 077 && "$python" - "$project/deploy/env.example" >"$state/env" <<'PY'
import re, secrets, sys
for line in open(sys.argv[1], encoding="utf-8"):
    name, given, value = line.strip().partition("=")
    if given and not value and not line.startswith("#"):
        value = secrets.token_hex(16)
        line = f"{name}={'operator:' if name == 'FLOWER_BASIC_AUTH' else ''}{value}\n"
    print(line, end="")
print("COMPOSE_PROJECT_NAME=stratagate-check")
for port, name in enumerate(("INGEST", "RETRIEVAL", "CONSOLE", "FLOWER"), start=18080):
    print(f"{name}_PORT={port}")
print("LIVE_SLOTS=2")
PY
    )
    compose up --detach --no-build
    await_health
    compose ps
}

await_health() {
    local left=
    for _ in $(seq 120); do
        left=$(compose ps --quiet | xargs docker inspect --format \
            '{{.Name}} {{.State.Status}} {{.State.ExitCode}} {{with .State.Health}}{{.Status}}{{end}}' |
            grep -v -e ' healthy$' -e 'migrate.* exited 0' || true)
        [ -z "$left" ] && return
        sleep 5
    done
    printf 'not healthy:\n%s\n' "$left" >&2
    return 1
}

walk() {
    local key name
    name=check-$(date +%s)
    compose run --rm --no-deps -T migrate tenant create "$name" >/dev/null
    key=$(compose run --rm --no-deps -T migrate key create --tenant "$name" --json \
        --permissions ingest,read,use,curate,erase,admin |
        "$python" -c 'import json, sys; print(json.load(sys.stdin)["key"])')
    (cd "$project" && STRATAGATE_TEST_API_URL=http://127.0.0.1:18080 \
        STRATAGATE_TEST_RETRIEVAL_URL=http://127.0.0.1:18081 STRATAGATE_TEST_API_KEY=$key \
        STRATAGATE_TEST_COMPOSE_PROJECT=stratagate-check \
        "$python" -m pytest -q -n0 tests/integration/deploy/test_outside.py \
        tests/integration/deploy/test_containers.py)
}

down() {
    compose down --volumes --remove-orphans --timeout 20
    rm -rf "$state"
}

case ${1:-} in
build | up | walk | down) "$1" ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
