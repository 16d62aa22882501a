#!/bin/bash
# A real Incus cluster on one machine, for tests: each member has network, mount, PID and UTS namespaces of its own.
# It needs root and Debian packages, and neither systemd nor KVM.
#   lab.sh up            installs what is missing (a minute), starts the members and forms the cluster (seconds)
#   lab.sh down          ends it; what was installed stays
#   lab.sh status
#   lab.sh exec N ...    runs a command in member N
#   lab.sh kill N        cuts the power of member N;  lab.sh kill N incusd  ends its daemon, and keeps it from starting
#   lab.sh start N       switches member N on again, or lets its daemon start
#   lab.sh container N NAME   makes a container of Debian on member N: what is done inside it needs no vsock
#   lab.sh join N        makes one member more, which joins the cluster;  lab.sh leave N  takes an empty one out of it
# COINRACK_INCUS_LAB is its folder (default /tmp/coinrack-incus-lab), MEMBERS how many there are (3).
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
LAB=${COINRACK_INCUS_LAB:-/tmp/coinrack-incus-lab}
MEMBERS=${MEMBERS:-3}
# Member N is NET.0.N, this machine NET.0.254; everything else in NET is for machines.
NET=10.77
NET6=2001:db8:77
HERE=$(dirname "$(readlink -f "$0")")
ROOT=${COINRACK_CACHE:-/var/cache/coinrack}/incus-lab-root
PACKAGES=incus-base,incus-client,incus-agent,qemu-system-x86,qemu-utils,ovmf,btrfs-progs,e2fsprogs,squashfs-tools
PACKAGES=$PACKAGES,xz-utils,rsync,gdisk,attr,netbase,python3,iproute2,nftables,dnsmasq-base,procps,genisoimage,ca-certificates
BEGIN=$(date +%s)

say() { echo "[$(($(date +%s) - BEGIN)) s] $*"; }

# The members share one read-only system. Incus comes from bookworm-backports, and so does QEMU 10: with QEMU 7.2 memory
# snapshots and live moves of Incus 6.0.4 fail.
install() {
  [ "$(cat "$ROOT/.complete" 2>/dev/null)" = "$PACKAGES" ] && return
  command -v mmdebstrap >/dev/null || apt-get install -y -qq mmdebstrap
  say 'installing the system of the members'
  rm -rf --one-file-system "$ROOT"
  mkdir -p "$ROOT"
  local all mirror security
  all=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
  mirror=$(grep -v security <<<"$all" | head -n1)
  security=$(grep security <<<"$all" | head -n1)
  nice mmdebstrap --quiet --variant=apt --aptopt='Apt::Install-Recommends "false"' --include="$PACKAGES" \
    --customize-hook='chroot "$1" apt-get install -y -qq -t bookworm-backports --no-install-recommends \
      qemu-system-x86 qemu-utils qemu-system-modules-spice' \
    bookworm "$ROOT" "deb $mirror bookworm main" "deb $mirror bookworm-backports main" \
    "deb $security bookworm-security main" >"$LAB/install.log" 2>&1
  # A real host needs none of this: the laboratory has neither KVM nor vhost_vsock.
  printf '#!/bin/sh\nexit 0\n' >"$ROOT/usr/local/bin/modprobe"
  cp "$HERE/qemu-shim" "$ROOT/usr/local/bin/qemu-system-x86_64"
  chmod 755 "$ROOT"/usr/local/bin/*
  : >"$ROOT/etc/resolv.conf"
  # For images that boot from the BIOS (security.csm).
  ln -sf ../seabios/bios-256k.bin "$ROOT/usr/share/OVMF/seabios.bin"
  echo "$PACKAGES" >"$ROOT/.complete"
  say 'installed'
}

pid_of() { cat "$LAB/m$1/pid" 2>/dev/null; }
is_on() { [ -n "$(pid_of "$1")" ] && kill -0 "$(pid_of "$1")" 2>/dev/null; }

inside() { # N COMMAND...
  local n=$1
  shift
  nsenter -t "$(pid_of "$n")" -m -n -p -u env -i HOME=/root TERM=dumb \
    PATH=/usr/local/bin:/usr/libexec/incus:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
incus() { inside 1 incus "$@" </dev/null; }

# The namespace inc0 is the switch: this machine has one port of it, and each member another.
make_network() {
  ip netns add inc0 2>/dev/null || return 0
  ip -n inc0 link add br0 type bridge
  ip -n inc0 link set br0 up
  ip link add inclab type veth peer name host netns inc0
  ip -n inc0 link set host master br0 up
  ip addr add "$NET.0.254/16" dev inclab
  ip addr add "$NET6::1/64" dev inclab nodad
  ip link set inclab up
  local n
  for n in $(seq "$MEMBERS"); do make_port "$n"; done
}

make_port() { # N
  local n=$1
  ip netns add "inc$n" 2>/dev/null || return 0
  ip -n "inc$n" link set lo up
  ip -n "inc$n" link add br0 type bridge
  ip -n "inc$n" link add eth0 type veth peer name "m$n" netns inc0
  ip -n inc0 link set "m$n" master br0 up
  ip -n "inc$n" link set eth0 master br0 up
  ip -n "inc$n" link set br0 up
  ip -n "inc$n" addr add "$NET.0.$n/16" dev br0
  ip netns exec "inc$n" sysctl -qw net.ipv4.ip_forward=1 \
    net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-arptables=0
}

switch_on() { # N
  local n=$1 parent child
  is_on "$n" && return
  mkdir -p "$LAB/m$n/lib" "$LAB/m$n/log"
  setsid nsenter --net="/run/netns/inc$n" unshare -m -p -u -f --kill-child \
    "$HERE/lab.sh" _member "$n" </dev/null >>"$LAB/m$n/out" 2>&1 &
  parent=$!
  for _ in $(seq 100); do
    sleep .05
    child=$(pgrep -P "$parent" || :)
    [ -n "$child" ] && break
  done
  echo "$child" >"$LAB/m$n/pid"
}

# Process 1 of a member: it keeps the daemon running unless the file /run/hold is there.
run_member() { # N
  local n=$1 device
  mount --make-rprivate /
  mount --bind "$ROOT" "$ROOT"
  cd "$ROOT"
  mount -t tmpfs -o dev,mode=755 tmpfs dev
  mkdir dev/net dev/pts dev/shm
  for device in null zero random urandom full tty ptmx fuse kvm vsock net/tun loop-control btrfs-control; do
    [ ! -e "/dev/$device" ] || { touch "dev/$device" && mount --bind "/dev/$device" "dev/$device"; }
  done
  for device in $(seq 0 31); do mknod "dev/loop$device" b 7 "$device"; done
  : >dev/vhost-vsock
  ln -s /proc/self/fd dev/fd
  mount -t devpts devpts dev/pts
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  mount -t sysfs sysfs sys
  # For containers.
  [ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup sys/fs/cgroup
  mount -t proc proc proc
  mount -t tmpfs tmpfs run
  mount --bind "$LAB/m$n/lib" var/lib/incus
  mkdir -p var/log/incus
  mount --bind "$LAB/m$n/log" var/log/incus
  cp "$HERE/without-vsock.py" run/
  mkdir run/host
  # What runs in a container has the root of the namespace for its own: it has to be the member's, not that of this machine.
  pivot_root . run/host
  cd /
  umount -l run/host
  hostname "node$n"
  export PATH=/usr/local/bin:/usr/libexec/incus:/usr/sbin:/usr/bin:/sbin:/bin
  export INCUS_EDK2_PATH=/usr/share/OVMF INCUS_OVMF_PATH=/usr/share/OVMF
  while :; do
    /usr/bin/python3 /run/without-vsock.py \
      /usr/libexec/incus/incusd --group root --logfile /var/log/incus/incusd.log || :
    sleep .2
    while [ -e run/hold ]; do sleep .2; done
  done
}

wait_for() { # N
  for _ in $(seq 200); do
    inside "$1" test -S /var/lib/incus/unix.socket 2>/dev/null &&
      inside "$1" incusd waitready --timeout 30 && return
    sleep .1
  done
  echo "Member $1 does not come up; see $LAB/m$1" >&2
  return 1
}

# The cluster, its pools, and the one client, who may do everything within one project and nothing outside.
form() {
  local n
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=coinrack \
    -keyout "$LAB/client.key" -out "$LAB/client.crt" 2>/dev/null
  inside 1 incus admin init --preseed >/dev/null <<YAML
config: {core.https_address: "$NET.0.1:8443", images.auto_update_interval: "0"}
cluster: {enabled: true, server_name: node1}
YAML
  for n in $(seq 2 "$MEMBERS"); do join "$n"; done
  say "$MEMBERS members"
  for n in $(seq "$MEMBERS"); do incus storage create cow btrfs size=100GiB --target "node$n" -q; done
  incus storage create cow btrfs -q
  incus project create coinrack -q -c features.networks=false -c features.images=true -c features.profiles=true \
    -c features.storage.volumes=true
  cp "$LAB/client.crt" "$LAB/m1/lib/client.crt"
  incus config trust add-certificate /var/lib/incus/client.crt --name coinrack --restricted --projects coinrack -q
  inside 1 cat /var/lib/incus/cluster.crt >"$LAB/cluster.crt"
}

# Each pool that there is already gets a part on the member.
join() { # N
  local n=$1 token
  token=$(incus cluster add "node$n" -q | tail -n1)
  inside "$n" incus admin init --preseed >/dev/null <<YAML
cluster:
  enabled: true
  server_address: "$NET.0.$n:8443"
  cluster_token: $token
  member_config:
$(incus storage list -f csv -c n | sed 's/.*/  - {entity: storage-pool, name: &, key: size, value: 100GiB}/')
YAML
}

# A container is privileged, since the members have no other users to give it, its first process does nothing, and it may
# give itself a name.
make_container() { # N NAME
  local n=$1 files=${ROOT%/*}/incus-lab-container
  if [ ! -e "$files/rootfs.tar" ]; then
    mkdir -p "$files"
    printf 'architecture: x86_64\ncreation_date: 1\n' >"$files/metadata.yaml"
    tar -C "$files" -cf "$files/metadata.tar" metadata.yaml
    nice mmdebstrap --quiet --variant=minbase bookworm "$files/rootfs.part" \
      "deb $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n1) bookworm main"
    mv "$files/rootfs.part" "$files/rootfs.tar"
  fi
  cp "$files/metadata.tar" "$files/rootfs.tar" "$LAB/m1/lib/"
  incus image show container --project coinrack >/dev/null 2>&1 ||
    incus image import /var/lib/incus/metadata.tar /var/lib/incus/rootfs.tar --alias container --project coinrack -q
  incus launch container "$2" --project coinrack --target "node$n" -s cow -q \
    -c security.privileged=true -c raw.lxc="$(printf 'lxc.init.cmd = /bin/sleep infinity\nlxc.mount.auto = proc:rw')"
}

# All members that were ever switched on.
members() { ls "$LAB" 2>/dev/null | sed -n 's/^m\([0-9]*\)$/\1/p'; }

case ${1:-} in
  up)
    mkdir -p "$LAB"
    install
    make_network
    for n in $(seq "$MEMBERS"); do switch_on "$n"; done
    for n in $(seq "$MEMBERS"); do wait_for "$n"; done
    [ -e "$LAB/cluster.crt" ] || form
    say 'the cluster is up'
    ;;
  down)
    for n in $(members); do
      ! is_on "$n" || kill -9 "$(pid_of "$n")"
    done
    sleep .5
    for n in 0 $(seq "$MEMBERS") $(members); do ip netns del "inc$n" 2>/dev/null || :; done
    ip link del inclab 2>/dev/null || :
    find /sys/fs/cgroup -depth -type d -path '*/lxc.*coinrack_vps-*' -exec rmdir {} \; 2>/dev/null || :
    # The loop devices of the pools are freed with their last user.
    rm -rf --one-file-system "$LAB"
    ;;
  status) incus cluster list -f compact ;;
  exec)
    shift
    inside "$@"
    ;;
  kill)
    if [ "${3:-}" = incusd ]; then
      inside "$2" touch /run/hold
      inside "$2" pkill -9 -x incusd
    else
      kill -9 "$(pid_of "$2")"
    fi
    ;;
  container) make_container "$2" "$3" ;;
  start)
    switch_on "$2"
    inside "$2" rm -f /run/hold
    wait_for "$2"
    ;;
  join)
    make_port "$2"
    switch_on "$2"
    wait_for "$2"
    join "$2"
    ;;
  leave)
    incus cluster remove "node$2" --yes -q
    kill -9 "$(pid_of "$2")"
    ip netns del "inc$2"
    rm -rf --one-file-system "$LAB/m$2"
    ;;
  _member) run_member "$2" ;;
  *)
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
