#!/bin/sh
# Brings an address of its own to one machine's link, or takes it away when none is named. Run by root, one at a time.
# Usage: addresses.sh LINK MACHINE_END BRIDGE GATEWAY TABLE [ADDRESS]; `-` stands for no bridge or no gateway.
# The routes of the link say which addresses it has: they come first and go last, so that whatever a kill left
# half-made is made whole or removed.
set -eu
link=$1 machine_end=$2 bridge=$3 gateway=$4 table=$5 wanted=${6:-}
[ -e "/sys/class/net/$link" ] || exit 0

# Where the host answers for an address.
answering() { ip -4 neigh show proxy | while read -r at _ device _; do if [ "$at" = "$1" ]; then echo "$device"; fi; done; }
present() { ip -4 route show dev "$link" proto static | while read -r at _; do echo "$at"; done; }

for address in $(present); do
  if [ "$address" = "$wanted" ]; then continue; fi
  for device in $(answering "$address"); do ip neigh del proxy "$address" dev "$device"; done
  while ip rule del from "$address" lookup "$table" 2>/dev/null; do :; done
  ip route del "$address" dev "$link" proto static
done
[ -n "$wanted" ] || exit 0

# An address that leads to another machine is not taken from it: the route exists, and this fails.
if [ "$(present)" != "$wanted" ]; then ip route add "$wanted" via "$machine_end" dev "$link" proto static; fi
for device in $(answering "$wanted"); do
  if [ "$device" != "$bridge" ]; then ip neigh del proxy "$wanted" dev "$device"; fi
done
if [ "$bridge" != - ]; then ip neigh replace proxy "$wanted" dev "$bridge"; fi
if [ "$gateway" = - ]; then
  while ip rule del from "$wanted" lookup "$table" 2>/dev/null; do :; done
else
  ip route replace default via "$gateway" dev "$bridge" onlink table "$table"
  if [ -z "$(ip rule show from "$wanted" lookup "$table")" ]; then
    ip rule add from "$wanted" lookup "$table" priority "$table"
  fi
fi
