import { type ChildProcess, spawn } from 'node:child_process'
import { runCommand } from '@coinrack/host/run-command.ts'
import { GATEWAY, GATEWAY6, GUEST_ADDRESS, namespaceFile, TAP } from './addresses.ts'

/*
 * A guest without a machine: a namespace whose `eth0` is wired to the tap of a machine's network, frame by frame, as a
 * guest's network card is. It takes a moment where a boot takes a minute, and the kernel in it sends what it likes.
 */

/** Opens the machine's tap (descriptor 8) in one namespace, then `eth0` in the other, and carries frames between them. */
const OPEN = `use POSIX (); sysopen(my $tap, "/dev/net/tun", 2) or die; my $request = pack("a16 s x22", shift, 0x1002);
ioctl($tap, 0x400454ca, $request) or die "tap: $!"; POSIX::dup2(fileno($tap), shift); exec @ARGV;`
const CARRY = `open(my $a, "+<&=", 8); open(my $b, "+<&=", 7);
while (1) {
  my $ready = ""; vec($ready, 8, 1) = 1; vec($ready, 7, 1) = 1; select($ready, undef, undef, undef);
  if (vec($ready, 8, 1) && sysread($a, my $frame, 70000)) { syswrite($b, $frame) }
  if (vec($ready, 7, 1) && sysread($b, my $frame, 70000)) { syswrite($a, $frame) }
}`

/** Answers like an SSH server, and says who called. */
const SERVE = `for (const port of [22, 8022]) require('node:net').createServer((socket) =>
  socket.on('error', () => {}).end('SSH-2.0 ' + socket.remoteAddress.replace('::ffff:', '') + '\\n')).listen(port, '::')`

export interface GuestStandIn {
  /** Runs a command line inside; what it printed, or `no` when it failed. */
  run(line: string): Promise<string>
  end(): Promise<void>
}

/** @param name of the namespace, new on this host */
export async function startGuestStandIn(
  name: string,
  id: string,
  macAddress: string,
  ipv6?: string,
): Promise<GuestStandIn> {
  const inGuest = (line: string) => `ip -n ${name} ${line}; `
  await runCommand('sh', [
    '-ec',
    `ip netns add ${name}; ` +
      inGuest('link set lo up') +
      inGuest('tuntap add eth0 mode tap') +
      inGuest(`link set eth0 address ${macAddress} up`) +
      inGuest(`address add ${GUEST_ADDRESS}/24 dev eth0`) +
      inGuest(`route add default via ${GATEWAY}`) +
      (ipv6 ? inGuest(`address add ${ipv6}/128 dev eth0 nodad`) : '') +
      (ipv6 ? inGuest(`-6 route add default via ${GATEWAY6} dev eth0`) : ''),
  ])
  const inside = ['nsenter', `--net=/run/netns/${name}`]
  const [command, ...args] = [
    ...['nsenter', `--net=${namespaceFile(id)}`, 'perl', '-e', OPEN, TAP, '8'],
    ...[...inside, 'perl', '-e', OPEN, 'eth0', '7', 'perl', '-e', CARRY],
  ]
  const programs: ChildProcess[] = [
    spawn(command!, args, { stdio: 'inherit' }),
    spawn(inside[0]!, [inside[1]!, process.execPath, '-e', SERVE], { stdio: 'inherit' }),
  ]
  return {
    run: (line) =>
      runCommand('nsenter', [inside[1]!, 'bash', '-c', line]).then(
        ({ stdout }) => stdout.trim(),
        () => 'no',
      ),
    async end() {
      for (const program of programs) program.kill('SIGKILL')
      await runCommand('ip', ['netns', 'delete', name])
    },
  }
}
