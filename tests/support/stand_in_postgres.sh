#!/bin/sh
# Entry point of the stand-in for the Postgres image: the official one's variables, folder of
# first-start scripts and arguments, as far as our compose file and Testcontainers use them.
set -eu

data=${PGDATA:-/var/lib/postgresql/data}
user=${POSTGRES_USER:-postgres}
name=${POSTGRES_DB:-$user}

[ "${1:-postgres}" = postgres ] || case $1 in -*) ;; *) exec "$@" ;; esac
[ "${1:-}" != postgres ] || shift

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$data" /var/run/postgresql
    chown postgres:postgres "$data" /var/run/postgresql
    chmod 700 "$data"
    exec setpriv --reuid postgres --regid postgres --init-groups "$0" postgres "$@"
fi

export HOME=/var/lib/postgresql
if [ ! -s "$data/PG_VERSION" ]; then
    password=$(mktemp)
    printf '%s' "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}" >"$password"
    initdb --pgdata "$data" --username "$user" --pwfile "$password" --encoding UTF8 \
        --locale C.UTF-8 --auth-local trust --auth-host scram-sha-256
    rm "$password"
    echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
    pg_ctl --pgdata "$data" --wait --options "-c listen_addresses=''" start
    [ "$name" = postgres ] || createdb --username "$user" "$name"
    for script in /docker-entrypoint-initdb.d/*.sh; do
        [ ! -e "$script" ] || POSTGRES_USER=$user POSTGRES_DB=$name sh "$script"
    done
    pg_ctl --pgdata "$data" --wait stop
    echo 'PostgreSQL init process complete; ready for start up.'
fi
exec postgres -D "$data" -c listen_addresses='*' "$@"
