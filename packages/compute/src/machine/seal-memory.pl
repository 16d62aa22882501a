# Copies a guest's memory from a file into memory of the host that nobody can ever change again:
#   seal-memory.pl FILE BYTES
# Prints "PID DESCRIPTOR SHA-256" on one line, and keeps the memory until its standard input ends: who opens
# /proc/PID/fd/DESCRIPTOR meanwhile has it from then on. The sum is of the pages that are not all zeros, each after its
# place; only those take memory. In Perl, since every Debian has it, and it can make the one system call.
use strict;
use warnings;
use Fcntl;

use constant { MEMFD_CREATE => 319, MFD_ALLOW_SEALING => 2 };    # of Linux on x86-64
use constant { F_ADD_SEALS => 1033, SEAL_SHRINK_GROW_WRITE_SEAL => 15 };
use constant { SEEK_SET => 0, SEEK_DATA => 3, SEEK_HOLE => 4 };
use constant { PAGE => 4096, CHUNK => 256 * 4096 };

my ($path, $bytes) = @ARGV;
sysopen(my $file, $path, O_RDONLY) or die "$path: $!\n";
die "$path: not $bytes bytes\n" unless -s $file == $bytes;

my $name = 'coinrack-template';
my $descriptor = syscall(MEMFD_CREATE, $name, MFD_ALLOW_SEALING);
die "memfd_create: $!\n" if $descriptor < 0;
open(my $memory, '+<&=', $descriptor) or die "memfd: $!\n";
truncate($memory, $bytes) or die "memfd: $!\n";

my $sum_pid = open(my $sum, '|-', 'sha256sum') or die "sha256sum: $!\n";
$| = 1;
print "$$ $descriptor ";
my $nothing = "\0" x PAGE;
my $at = 0;
while (defined($at = sysseek($file, $at, SEEK_DATA))) {
  my $end = sysseek($file, $at, SEEK_HOLE);
  $at -= $at % PAGE;
  sysseek($file, $at, SEEK_SET);
  while ($at < $end) {
    my $read = sysread($file, my $chunk, CHUNK);
    die "$path: cut short\n" unless $read;
    for (my $offset = 0; $offset < $read; $offset += PAGE) {
      my $page = substr($chunk, $offset, PAGE);
      next if $page eq $nothing;
      print {$sum} pack('Q>', $at + $offset), $page;
      sysseek($memory, $at + $offset, SEEK_SET);
      syswrite($memory, $page) == length $page or die "memfd: $!\n";
    }
    $at += $read;
  }
}
fcntl($memory, F_ADD_SEALS, SEAL_SHRINK_GROW_WRITE_SEAL) or die "seals: $!\n";
close($sum) or die "sha256sum failed\n";
readline(STDIN);
