/**
 * Run inside a freshly booted template, before it is saved. A clone must find everything in memory that it needs for
 * its first login; and nothing running, nor lying about, that was made of random numbers which its siblings have too.
 */
export const PREPARE = `set -u
systemctl is-system-running --wait >/dev/null
# One login warms what a login reads. Its keys are gone before anybody could meet them.
umask 077
rm -f /etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
ssh-keygen -q -t ed25519 -N '' -f /run/warm
mkdir -p /root/.ssh
cp /run/warm.pub /root/.ssh/authorized_keys
systemctl reset-failed ssh.service
systemctl start ssh.service
ssh -F none -i /run/warm -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@127.0.0.1 true
perl -e 1; partx --version >/dev/null; resize2fs -V 2>/dev/null; ip link show >/dev/null
tar -cf /dev/null /etc/hostname; sed -n 1p /etc/shadow >/dev/null; date >/dev/null

set -e
stopped=$(systemctl list-units --state=active --plain --no-legend '*.timer' systemd-timesyncd.service \\
  systemd-networkd.socket systemd-networkd.service systemd-logind.service dbus.socket dbus.service \\
  'serial-getty@*' | cut -d' ' -f1)
systemctl stop ssh.service $stopped
mkdir -p /run/coinrack
echo $stopped >/run/coinrack/stopped
if pgrep -x 'sshd.*'; then exit 1; fi
journalctl --quiet --flush --rotate --vacuum-time=1s 2>/dev/null || :
rm -rf /etc/ssh/ssh_host_* /run/warm* /root/.ssh /run/log/journal/* /var/log/journal/* \\
  /var/lib/systemd/random-seed /var/lib/systemd/credential.secret /var/lib/systemd/timers /tmp/* /var/tmp/*
# It still writes to the files that are gone; what it begins now is whole, and the clone begins another.
systemctl restart systemd-journald.service
for log in /var/log/wtmp /var/log/lastlog; do if [ -e "$log" ]; then : >"$log"; fi; done
sync
# Only now does memory hold no copy of the boot sector, which differs in the clones.
blockdev --flushbufs /dev/vda
`
