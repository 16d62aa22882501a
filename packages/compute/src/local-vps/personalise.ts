import { macAddress } from '../machine/command-line.ts'
import { type Personality, personalFiles } from '../personality/seed.ts'
import { makeTar } from '../personality/tar.ts'
import { userDataFiles } from '../personality/user-data.ts'

const ENTROPY_BYTES = 64
const GIB = 1024 ** 3
const SECTOR = 512
const REST_AT_LATEST_SECONDS = 120
const REST_PATH = '/run/coinrack/rest'

/**
 * Run inside a clone by its agent, as one program, since each costs a tenth of a second under emulation:
 *   sh -c SCRIPT sh TIME MAC-ADDRESS DISK-SECTORS SECONDS-TO-REST
 * Its input is fresh entropy and then a tar of the files that make the clone one particular machine. The entropy goes
 * first, and is waited for: whatever draws a random number before it draws the one that every sibling draws. Until the
 * SSH server is started, nobody from outside gets in.
 */
export const PERSONALISE = `set -eu
umask 077
# RNDADDENTROPY and RNDRESEEDCRNG of random(4)
perl -e 'sysread(STDIN, $e, ${ENTROPY_BYTES}) == ${ENTROPY_BYTES} or die "no entropy";
  open(R, "+<", "/dev/urandom") or die $!;
  ioctl(R, 0x40085203, pack("iia*", 8 * length $e, length $e, $e)) or die $!;
  ioctl(R, 0x5207, 0) or die $!'
date -s "@$1" >/dev/null
tar -xpf - -C / --no-same-owner
read -r name </etc/hostname
echo "$name" >/proc/sys/kernel/hostname
read -r hash </run/coinrack/root-password-hash
sed -i "s|^root:[^:]*:|root:$hash:|" /etc/shadow
rm /run/coinrack/root-password-hash
mount --bind /run/coinrack/boot-id /proc/sys/kernel/random/boot_id
head -c 512 /dev/urandom >/var/lib/systemd/random-seed
# With the setting, the kernel tells the network of the new address: nobody there knows where this machine is.
echo 1 >/proc/sys/net/ipv4/conf/all/arp_notify
for interface in /sys/class/net/e*; do ip link set dev "\${interface##*/}" address "$2"; done
echo 0 >/proc/sys/net/ipv4/conf/all/arp_notify
if [ -e /run/cloud-init/enabled ]; then rm -f /etc/cloud/cloud-init.disabled; fi
# The journal of the template ends here, and this machine's own begins: first, since what systemd says while there is
# none is in no journal of a unit.
{ systemctl restart systemd-journald.service; systemctl restart ssh.service; } &
started=$!
size=0
while [ "$size" -lt "$3" ]; do read -r size </sys/block/vda/size; done
# The host has written the partition's new end already.
partx --update --nr 1 /dev/vda
resize2fs /dev/vda1 2>/dev/null
wait "$started"
read -r own </etc/machine-id
for journal in /var/log/journal/*; do [ "\${journal##*/}" = "$own" ] || rm -rf "$journal"; done
sync
# The host says when there is time for the rest, and a guest whose host never does goes on by itself.
perl -e 'sleep shift; exec "sh", "${REST_PATH}"' "$4" >/dev/null 2>&1 &
echo $! >/run/coinrack/waiting
`

/**
 * Brings back, once, what the template had stopped: under emulation it would slow down a first login. Then user data is
 * run, if there is any.
 */
export const START_REST = `sh ${REST_PATH}`
const REST = `mkdir /run/coinrack/resting 2>/dev/null || exit 0
read -r waiting </run/coinrack/waiting
[ "$waiting" = $$ ] || kill "$waiting" || :
systemctl start $(cat /run/coinrack/stopped)
systemctl start --no-block coinrack-user-data.service
`

export interface Facts {
  /** The machine's id, which its hardware address follows from. */
  id: string
  diskGb: number
  personality: Personality
  now: Date
  /** From the host, used for nothing else. */
  randomBytes(length: number): Buffer
  randomUuid(): string
}

/** The arguments and the input of PERSONALISE in one clone. */
export function personalInput(facts: Facts): { args: string[]; input: Buffer } {
  const { id, diskGb, personality, now, randomBytes, randomUuid } = facts
  const sectors = (diskGb * GIB) / SECTOR
  // A customer who sends user data waits for its effect.
  const restSeconds = personality.userData === undefined ? REST_AT_LATEST_SECONDS : 0
  const machineId = `${randomUuid().replaceAll('-', '')}\n`
  const files = [
    ...personalFiles(personality),
    ...userDataFiles(personality),
    { path: 'etc/machine-id', mode: 0o444, content: machineId },
    { path: 'run/coinrack/boot-id', mode: 0o444, content: `${randomUuid()}\n` },
    { path: REST_PATH.slice(1), mode: 0o500, content: REST },
  ]
  return {
    args: [String(now.getTime() / 1000), macAddress(id), String(sectors), String(restSeconds)],
    input: Buffer.concat([randomBytes(ENTROPY_BYTES), makeTar(files, { mtime: now, size: SECTOR })]),
  }
}
