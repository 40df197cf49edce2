#!/bin/sh
# Run once by the Postgres image, on an empty data folder: the two roles that the services log in
# as. They own nothing, and row level security holds them; the migrations grant what they may do.
# On a managed Postgres, run these statements by hand, as the migrating role.
set -eu
: "${STRATAGATE_APP_PASSWORD:?}" "${STRATAGATE_QUEUE_PASSWORD:?}"

# Through standard input, so that no process list shows a password.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<SQL
CREATE ROLE stratagate_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '$STRATAGATE_APP_PASSWORD';
CREATE ROLE stratagate_queue LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '$STRATAGATE_QUEUE_PASSWORD';
SQL
