#!/bin/sh
# Makes or removes the namespace of one machine and the link to it. Run by root, one at a time (flock).
# Usage: link.sh up|down NAMESPACE LINK [HOST_END MACHINE_END GUEST_GATEWAY GUEST_RESOLVER TAP UPLINK]
# Whatever a kill left half-made is made anew: only what is whole carries the mark, the alias of the link.
set -eu
verb=$1 namespace=$2 link=$3
file=/run/netns/$namespace

remove() {
  if [ -e "/sys/class/net/$link" ]; then ip link delete "$link"; fi
  # A kill within `ip netns add` leaves a file that is no namespace.
  if [ -e "$file" ]; then ip netns delete "$namespace" 2>/dev/null || rm -f "$file"; fi
}

if [ "$verb" = down ]; then
  remove
  exit
fi

host_end=$4 machine_end=$5 gateway=$6 resolver=$7 tap=$8 uplink=$9
mark=
if [ -e "/sys/class/net/$link/ifalias" ]; then read -r mark <"/sys/class/net/$link/ifalias" || :; fi
if [ "$mark" = "$host_end" ] && [ -e "$file" ]; then exit; fi

remove
ip netns add "$namespace"
ip link add "$link" type veth peer name "$uplink" netns "$namespace"
# Clients on the host's loopback reach machines over the link; what comes back has to be let in.
echo 1 >"/proc/sys/net/ipv4/conf/$link/route_localnet"
echo 1 >"/proc/sys/net/ipv4/conf/$link/rp_filter"
if [ -e "/proc/sys/net/ipv6/conf/$link" ]; then echo 1 >"/proc/sys/net/ipv6/conf/$link/disable_ipv6"; fi
ip address add "$host_end/30" dev "$link"

nsenter --net="$file" sh -eu -s "$@" <<'INSIDE'
host_end=$4 machine_end=$5 gateway=$6 resolver=$7 tap=$8 uplink=$9
if [ -e /proc/sys/net/ipv6 ]; then
  echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
  echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
fi
echo 1 >/proc/sys/net/ipv4/ip_forward
ip tuntap add "$tap" mode tap
# Always the same, since a guest that goes on after a pause still knows its gateway by it.
ip link set "$tap" address 02:00:0a:00:02:02
ip address add "$gateway/24" dev "$tap"
ip address add "$resolver/24" dev "$tap"
ip address add "$machine_end/30" dev "$uplink"
ip link set "$tap" up
ip link set "$uplink" up
INSIDE

ip link set "$link" up
ip -n "$namespace" route add default via "$host_end"
ip link set "$link" alias "$host_end"
