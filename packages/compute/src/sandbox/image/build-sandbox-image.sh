#!/bin/sh
# Builds the disk, kernel and initial RAM disk of a sandbox template as root, without loop devices:
#   build-sandbox-image.sh SUITE MIRROR SECURITY_MIRROR PACKAGES INIT NODE NPM OUT
# INIT becomes the first program; NODE is a Node.js and NPM the folder of an npm that become the system's. OUT becomes a folder with disk.qcow2 (one
# ext4 without a partition table), vmlinuz and initrd.img. It appears whole or not at all; run under a lock, it may be
# repeated.
set -eu
suite=$1 mirror=$2 security=$3 packages=$4 init=$5 node=$6 npm=$7 out=$8
work=$out.building
tree=$work/tree
initial=$work/initial

[ ! -e "$out" ] || exit 0
rm -rf --one-file-system "$work"
mkdir -p "$work"
chmod 755 "$work"

echo "step: installing Debian $suite"
# What is excluded stays away when packages are upgraded inside, too. Without EXTERNALLY-MANAGED, pip and its like install
# for everybody in the sandbox, which is thrown away as a whole: there is no system to protect from them.
mmdebstrap --variant=minbase --include="$packages" --format=directory \
  --dpkgopt='path-exclude=/usr/lib/python3*/EXTERNALLY-MANAGED' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/include/boost/*' \
  --dpkgopt='path-exclude=/usr/lib/*/libopenblas*.a' "$suite" "$tree" \
  "deb $mirror $suite main" \
  "deb $mirror $suite-updates main" \
  "deb $security $suite-security main"

echo 'step: making the initial RAM disk'
kernel=$(basename "$tree"/lib/modules/*)
mkdir -p "$initial/bin" "$initial/modules" "$initial/root" "$initial/proc" "$initial/dev" "$initial/agent"
cp "$tree/bin/busybox" "$initial/bin/"
ln -s busybox "$initial/bin/sh"
cp "$init" "$initial/init"
chmod 755 "$initial/init"
for module in $(sed -n 's/^modules="\(.*\)"$/\1/p' "$init"); do
  found=$(find "$tree/lib/modules/$kernel" -name "$module.ko*" | head -n 1)
  [ -n "$found" ] || continue # It is part of this kernel.
  case $found in
  *.xz) xz -dc "$found" >"$initial/modules/$module.ko" ;;
  *) cp "$found" "$initial/modules/$module.ko" ;;
  esac
done
(cd "$initial" && find . | "$tree/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initrd.img"
cp "$tree/boot/vmlinuz-$kernel" "$work/vmlinuz"

echo 'step: configuring'
rm -rf "$tree"/boot/* "$tree"/lib/modules "$tree/etc/resolv.conf" "$tree"/var/lib/apt/lists/* "$tree"/var/cache/apt/*
rm -f "$tree/initrd.img" "$tree/vmlinuz" "$tree/etc/apt/sources.list"
# Each sandbox makes a host key of its own.
rm -f "$tree"/etc/ssh/ssh_host_*
cat >"$tree/etc/apt/sources.list.d/debian.sources" <<SOURCES
Types: deb
URIs: http://deb.debian.org/debian
Suites: $suite $suite-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://security.debian.org/debian-security
Suites: $suite-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
printf 'nameserver 10.0.2.3\n' >"$tree/etc/resolv.conf"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$tree/etc/hosts"
: >"$tree/etc/machine-id"
mkdir -p "$tree/usr/lib/coinrack"
install -m 755 "$node" "$tree/usr/local/bin/node"
mkdir -p "$tree/usr/local/lib/node_modules"
cp -R --no-preserve=ownership "$npm" "$tree/usr/local/lib/node_modules/npm"
rm -rf "$tree/usr/local/lib/node_modules/npm/docs" "$tree/usr/local/lib/node_modules/npm/man"
for name in npm npx; do
  chmod 755 "$tree/usr/local/lib/node_modules/npm/bin/$name-cli.js"
  ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$tree/usr/local/bin/$name"
done
chroot "$tree" useradd --create-home --shell /bin/bash --uid 1000 user
printf 'user ALL=(ALL) NOPASSWD: ALL\n' >"$tree/etc/sudoers.d/user"
chmod 440 "$tree/etc/sudoers.d/user"
chroot "$tree" passwd --quiet --lock root
# Where the user installs packages without being root. Interpreters that run already look into a folder only if it was
# there when they began.
python=$(basename "$(chroot "$tree" readlink -f /usr/bin/python3)")
printf 'prefix=/home/user/.local\n' >"$tree/home/user/.npmrc"
mkdir -p "$tree/home/user/.local/bin" "$tree/home/user/.local/lib/$python/site-packages"
chroot "$tree" chown -R user:user /home/user/.npmrc /home/user/.local
chroot "$tree" /usr/local/bin/node --version
chroot "$tree" /usr/local/bin/npm --version
chroot "$tree" python3 -m compileall -q /usr/lib/python3 /usr/lib/python3.*/ >/dev/null || :

echo 'step: making the disk'
# As small as it can be: what a sandbox may write comes beside it.
megabytes=$(($(du -sm "$tree" | cut -f 1) * 21 / 20 + 96))
truncate -s "${megabytes}M" "$work/fs"
mkfs.ext4 -q -d "$tree" -L sandbox -m 0 -E lazy_itable_init=1,lazy_journal_init=1 "$work/fs"
qemu-img convert -f raw -O qcow2 "$work/fs" "$work/disk.qcow2"

rm -rf --one-file-system "$tree" "$initial" "$work/fs"
chmod 644 "$work"/*
sync "$work"/*
mv -T "$work" "$out"
