#!/bin/sh
# The last steps before QEMU that need the service's rights. Runs in the machine's folder, under the lock of its pid
# file: at this moment nothing of the machine runs.
# Usage: launch.sh OWNER|- [FILE_OF_A_CONTROL_GROUP...] -- PROGRAM [ARGUMENT...]
set -eu
owner=$1
shift
rm -rf run
mkdir -m 0700 run
if [ "$owner" != - ]; then chown "$owner" run; fi
# A core file would hold the guest's memory.
ulimit -c 0
# Before it allocates: what a process had before it joined is not counted.
while [ "$1" != -- ]; do
  echo $$ >"$1"
  shift
done
shift
exec "$@"
