#!/bin/sh
# Makes the folder ROOT with QEMU, what it loads and what it reads: a machine's QEMU finds nothing else of the host's
# system. Without ROOT it prints what that would hold, so that a change of the host's is noticed.
# Usage: make-jail-root.sh PROGRAM [ROOT]
set -eu
program=$(command -v "$1")
share=/usr/share
files=$program
# The translator of instructions is loaded when the program has begun.
for module in /usr/lib/*/qemu/accel-*.so; do
  if [ -e "$module" ]; then files="$files $module"; fi
done
libraries=$(ldd $files | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// && $1 !~ /:$/ { print $1 }' | sort -u)
files="$files $libraries /etc/ld.so.cache $(find $share/qemu/keymaps $share/seabios -type f)"
for firmware in bios-microvm.bin kvmvapic.bin linuxboot.bin linuxboot_dma.bin pvh.bin; do
  if [ -e "$share/qemu/$firmware" ]; then files="$files $share/qemu/$firmware"; fi
done

if [ $# -lt 2 ]; then
  stat -L -c '%n %s %Y' $files
  exit
fi

root=$2
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
for file in $files; do
  mkdir -p "$root$(dirname "$file")"
  cp -L --preserve=mode,timestamps "$file" "$root$file"
done
# Where the machine's own appears.
mkdir -p "$root/proc" "$root/dev" "$root/machines/machine" "$root/base-images"
touch "$root/dev/null" "$root/dev/urandom" "$root/dev/kvm"
