#!/bin/sh
# Makes a disk as distributions publish them, from Debian's packages, as root and without loop devices:
#   testing-foreign-image.sh MIRROR OUT
# GPT with a BIOS boot partition, GRUB, a root that cloud-init has to grow, cloud-init, and nothing of ours.
set -eu
mirror=$1 out=$2
work=$out.work tree=$out.work/tree
mkdir -p "$work"
mmdebstrap --variant=minbase --format=directory trixie "$tree" "deb $mirror trixie main" \
  --include=systemd-sysv,dbus,udev,kmod,linux-image-cloud-amd64,initramfs-tools,lz4,e2fsprogs,fdisk,cloud-init,cloud-guest-utils,netplan.io,systemd-resolved,openssh-server,iproute2,procps,sudo
rm -f "$tree"/etc/ssh/ssh_host_* "$tree/etc/machine-id" "$tree/etc/resolv.conf"
: >"$tree/etc/machine-id"
echo 'LABEL=foreign-root / ext4 defaults 0 1' >"$tree/etc/fstab"
chroot "$tree" systemctl --quiet enable systemd-networkd.service systemd-resolved.service
chroot "$tree" passwd --quiet --lock root
mkdir -p "$tree/boot/grub"
cat >"$tree/boot/grub/grub.cfg" <<'CFG'
serial --unit=0 --speed=115200
terminal_output serial
linux /vmlinuz root=LABEL=foreign-root ro console=ttyS0,115200
initrd /initrd.img
boot
CFG
truncate -s 2040M "$work/fs"
mkfs.ext4 -q -d "$tree" -L foreign-root -O ^metadata_csum_seed,^orphan_file "$work/fs"
truncate -s 2048M "$work/disk"
sfdisk -q "$work/disk" <<'TABLE'
label: gpt
14 : start=2048, size=4096, type=21686148-6449-6E6F-744E-656564454649
1 : start=8192, size=4177920, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4
TABLE
dd if="$work/fs" of="$work/disk" bs=1M seek=4 conv=notrunc,sparse status=none
grub-mkimage -O i386-pc -p '(hd0,gpt1)/boot/grub' -o "$work/core.img" \
  biosdisk part_gpt ext2 normal linux boot configfile serial terminal
# Where the boot sector finds GRUB, and GRUB the rest of itself: sectors 2048 and 2049, little-endian.
dd if=/usr/lib/grub/i386-pc/boot.img of="$work/disk" bs=440 count=1 conv=notrunc status=none
printf '\000\010\000\000\000\000\000\000' | dd of="$work/disk" bs=1 seek=92 conv=notrunc status=none
printf '\001\010\000\000\000\000\000\000' | dd of="$work/core.img" bs=1 seek=500 conv=notrunc status=none
dd if="$work/core.img" of="$work/disk" bs=512 seek=2048 conv=notrunc status=none
qemu-img convert -f raw -O qcow2 -c "$work/disk" "$out"
rm -rf --one-file-system "$work"
