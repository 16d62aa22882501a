#!/bin/sh
# Builds one bootable OS image as root, without loop devices:
#   build-image.sh SUITE MIRROR SECURITY_MIRROR PACKAGES ROOTFS OUT
# OUT becomes a folder with disk.qcow2 (GRUB and one ext4 partition), its MBR, and copies of its kernel and initial RAM
# disk, which serve to probe acceleration. It appears whole or not at all; run under a lock, it may be repeated.
set -eu
suite=$1 mirror=$2 security=$3 packages=$4 rootfs=$5 out=$6
work=$out.building
tree=$work/tree

[ ! -e "$out" ] || exit 0
# A build that was killed may have left its mounts: never cross into them.
rm -rf --one-file-system "$work"
mkdir -p "$work"
chmod 755 "$work"

echo "step: installing Debian $suite"
# Root may log in by password: said to the package itself, whose own file then has it. There an owner's line in the same
# file, and each file of sshd_config.d, cloud-init's included, decides otherwise.
mmdebstrap --variant=minbase --include="$packages" --format=directory \
  --essential-hook='echo "openssh-server openssh-server/permit-root-login boolean false" |
    chroot "$1" debconf-set-selections' \
  "$suite" "$tree" \
  "deb $mirror $suite main" \
  "deb $mirror $suite-updates main" \
  "deb $security $suite-security main"

echo 'step: configuring'
rm -f "$tree/etc/apt/sources.list" "$tree/etc/resolv.conf" "$tree"/etc/ssh/ssh_host_*
cp -a --no-preserve=ownership --remove-destination "$rootfs/." "$tree/"
chmod 755 "$tree"/usr/lib/coinrack/* "$tree"/etc/initramfs-tools/hooks/*
sed -i "s/@SUITE@/$suite/g" "$tree/etc/apt/sources.list.d/debian.sources"
printf '127.0.0.1 localhost\n' >"$tree/etc/hosts"
: >"$tree/etc/machine-id"
: >"$tree/etc/resolv.conf"
rm -f "$tree/var/lib/systemd/random-seed" "$tree/var/lib/dbus/machine-id"
chroot "$tree" passwd --quiet --lock root
chroot "$tree" systemctl --quiet enable coinrack-first-boot.service coinrack-user-data.service coinrack-incus-agent.service systemd-networkd.service systemd-timesyncd.timer
chroot "$tree" systemctl --quiet disable systemd-timesyncd.service getty@tty1.service e2scrub_reap.service e2scrub_all.timer
# Host keys come with the seed; the kernel's debug file systems and cloud-foreign stages only cost boot time.
chroot "$tree" systemctl --quiet mask sshd-keygen.service systemd-firstboot.service systemd-repart.service \
  systemd-pcrphase.service systemd-pcrphase-sysinit.service systemd-pcrmachine.service \
  systemd-tpm2-setup.service systemd-tpm2-setup-early.service systemd-binfmt.service \
  sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
  modprobe@drm.service systemd-hibernate-clear.service
# No part of cloud-init runs at boot; coinrack-user-data.service starts it where there is something to do.
mkdir -p "$tree/etc/systemd/system-generators"
ln -s /dev/null "$tree/etc/systemd/system-generators/cloud-init-generator"
mount -t proc proc "$tree/proc"
trap 'umount "$tree/proc"' EXIT
chroot "$tree" update-initramfs -u -k all
umount "$tree/proc"
trap - EXIT
# Newer than anything in /usr: the first boot has no caches to rebuild.
touch "$tree/etc/.updated" "$tree/var/.updated"

echo 'step: making the disk'
cp -L "$tree/vmlinuz" "$tree/initrd.img" "$work/"
truncate -s 2047M "$work/fs"
# GRUB does not read file systems with the newest two features of ext4.
mkfs.ext4 -q -d "$tree" -L rootfs -O ^metadata_csum_seed,^orphan_file "$work/fs"
truncate -s 2048M "$work/disk"
echo 'start=2048, type=83, bootable' | sfdisk -q "$work/disk"
dd if="$work/fs" of="$work/disk" bs=1M seek=1 conv=notrunc,sparse status=none
grub-mkimage -O i386-pc -p '(hd0,msdos1)/boot/grub' -o "$work/core.img" \
  biosdisk part_msdos ext2 normal linux boot echo configfile serial terminal test smbios
dd if=/usr/lib/grub/i386-pc/boot.img of="$work/disk" bs=440 count=1 conv=notrunc status=none
dd if="$work/core.img" of="$work/disk" bs=512 seek=1 conv=notrunc status=none
dd if="$work/disk" of="$work/mbr" bs=512 count=1 status=none
qemu-img convert -f raw -O qcow2 "$work/disk" "$work/disk.qcow2"

rm -rf --one-file-system "$tree" "$work/fs" "$work/disk" "$work/core.img"
chmod 644 "$work"/*
sync "$work"/*
mv -T "$work" "$out"
