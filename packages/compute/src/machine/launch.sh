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
# A core file would hold the guest's memory. Open files are disks, sockets and customers who watch a screen; the processes
# are QEMU's threads, and count for each user. No memory is locked.
ulimit -c 0
ulimit -n 1024
ulimit -l 0
if [ "$owner" != - ]; then ulimit -u 512 2>/dev/null || ulimit -p 512; fi
# Before it allocates: what a process had before it joined is not counted.
while [ "$1" != -- ]; do
  echo $$ >"$1"
  shift
done
shift
exec "$@"
