#!/bin/sh
# The last steps before QEMU that need the service's rights. Runs in the machine's folder, under the lock of its pid
# file: at this moment nothing of the machine runs.
# Usage: launch.sh OWNER|- [FILE_OF_A_CONTROL_GROUP...] -- PROGRAM [ARGUMENT...]
set -eu
owner=$1
shift
if [ -e run ]; then rm -rf run; fi
if [ "$owner" = - ]; then
  mkdir -m 0700 run
else
  install -d -m 0700 -o "${owner%:*}" -g "${owner#*:}" run
fi
# A core file would hold the guest's memory.
ulimit -c 0
# Before it allocates: what a process had before it joined is not counted.
while [ "$1" != -- ]; do
  echo $$ >"$1"
  shift
done
shift
exec "$@"
