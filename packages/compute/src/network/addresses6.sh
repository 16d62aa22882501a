#!/bin/sh
# Brings an IPv6 address to one machine's link and to its tap, or takes it away when none is named. As addresses.sh.
# Usage: addresses6.sh LINK NAMESPACE BRIDGE TAP UPLINK [ADDRESS]; `-` stands for no bridge.
# Every link and every tap has the same link-local addresses: ::1 is where the next packet goes, ::2 the machine's end.
set -eu
link=$1 namespace=$2 bridge=$3 tap=$4 uplink=$5 wanted=${6:-}
[ -e "/sys/class/net/$link" ] || exit 0

answering() { ip -6 neigh show proxy | while read -r at _ device _; do if [ "$at" = "$1" ]; then echo "$device"; fi; done; }
present() { ip -6 route show dev "$link" proto static | while read -r at _; do echo "$at"; done; }

for address in $(present); do
  if [ "$address" = "$wanted" ]; then continue; fi
  for device in $(answering "$address"); do ip -6 neigh del proxy "$address" dev "$device"; done
  ip -6 route del "$address" dev "$link" proto static
done
[ -n "$wanted" ] || exit 0

nsenter --net="/run/netns/$namespace" sh -eu -s "$tap" "$uplink" "$wanted" <<'INSIDE'
tap=$1 uplink=$2 wanted=$3 conf=/proc/sys/net/ipv6/conf
for at in all default "$tap" "$uplink"; do
  echo 0 >"$conf/$at/accept_ra"
  echo 0 >"$conf/$at/disable_ipv6"
done
echo 1 >"$conf/all/forwarding"
ip -6 address replace fe80::1/64 dev "$tap" nodad
ip -6 address replace fe80::2/64 dev "$uplink" nodad
ip -6 route replace "$wanted/128" dev "$tap"
ip -6 route replace default via fe80::1 dev "$uplink"
INSIDE

echo 0 >"/proc/sys/net/ipv6/conf/$link/accept_ra"
echo 0 >"/proc/sys/net/ipv6/conf/$link/disable_ipv6"
ip -6 address replace fe80::1/64 dev "$link" nodad
# An address that leads to another machine is not taken from it.
holder=$(ip -6 route show "$wanted/128" proto static)
case $holder in
  '' | *" dev $link "*) ip -6 route replace "$wanted/128" via fe80::2 dev "$link" proto static ;;
  *) echo "$wanted leads elsewhere: $holder" >&2; exit 1 ;;
esac
for device in $(answering "$wanted"); do
  if [ "$device" != "$bridge" ]; then ip -6 neigh del proxy "$wanted" dev "$device"; fi
done
if [ "$bridge" != - ]; then
  # It has to be set for all interfaces as well, or the kernel forwards a neighbour's unicast probe instead of answering it.
  for at in all "$bridge"; do echo 1 >"/proc/sys/net/ipv6/conf/$at/proxy_ndp"; done
  ip -6 neigh replace proxy "$wanted" dev "$bridge"
fi
