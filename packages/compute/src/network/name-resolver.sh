#!/bin/sh
# Runs the resolver of one sandbox in the namespace where it is started, and again when it ends, as a user without any
# right but to change the rules there and to listen on port 53.
# Usage: name-resolver.sh UID GID [FILE_OF_A_CONTROL_GROUP...] -- PROGRAM [ARGUMENT...]
set -eu
uid=$1 gid=$2
shift 2
while [ "$1" != -- ]; do
  echo $$ >"$1"
  shift
done
shift
# Kilobytes of memory, and blocks of 512 bytes of what it says.
ulimit -c 0
ulimit -d 131072
ulimit -f 256
rights=-all,+net_admin,+net_bind_service
exec setpriv --reuid="$uid" --regid="$gid" --clear-groups --no-new-privs \
  --bounding-set=$rights --inh-caps=$rights --ambient-caps=$rights -- \
  /bin/sh -c 'while :; do setpriv --pdeathsig KILL -- "$@" || :; sleep 1; done' sh "$@"
