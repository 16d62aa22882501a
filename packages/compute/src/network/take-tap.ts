import { namespaceFile, TAP } from './addresses.ts'

/** The number under which QEMU inherits the tap. */
export const TAP_DESCRIPTOR = 8

/*
 * Opening a tap takes an ioctl and root; QEMU gets it open, and never has a right to another. Perl is part of every
 * Debian. 33 is dup2, as a module that has it takes longer to load than all else; 0x400454ca is TUNSETIFF; 0x5002 is a tap, without a header of its own but with virtio's (linux/if_tun.h).
 */
const TAKE_TAP = `sysopen(my $tap, "/dev/net/tun", 2) or die "/dev/net/tun: $!\\n";
ioctl($tap, 0x400454ca, pack("a16 s x22", shift, 0x5002)) or die "tap: $!\\n";
syscall(33, fileno($tap), ${TAP_DESCRIPTOR}) >= 0 or die "dup2: $!\\n";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n";`

/** The words before the command line of a program that is to run in the machine's namespace with its tap open. */
export const withTap = (id: string) => [
  ...['nsenter', `--net=${namespaceFile(id)}`],
  ...['perl', '-e', TAKE_TAP, TAP],
]

/**
 * The same in a namespace that ends with the program, where there is nothing but the tap: the program behind it neither
 * reaches others nor is reached.
 */
export const withLonelyTap = () => [
  ...[
    'unshare',
    '--net',
    'sh',
    '-ec',
    `ip tuntap add ${TAP} mode tap; ip link set ${TAP} up; exec "$@"`,
    'sh',
  ],
  ...['perl', '-e', TAKE_TAP, TAP],
]
