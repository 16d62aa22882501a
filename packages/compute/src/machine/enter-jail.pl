# Becomes a program that sees nothing of the host but what it was given:
#   enter-jail.pl PID-DESCRIPTOR ROOT FOLDER IMAGES UID GID GROUPS DEVICES PROGRAM [ARGUMENT...]
# ROOT is a folder with the program and what it reads, where `machines/machine` (FOLDER, which it is started in),
# `base-images` (IMAGES, read-only), `proc` and the devices appear. GROUPS and DEVICES, each PATH=HOST-PATH, are separated
# by commas. A process gets into a new PID namespace by being born there: so this one writes the number of its child into
# the open file PID-DESCRIPTOR, and ends once that is the program.
# In Perl, since every Debian has it, and it can make system calls; without `strict` and other modules, since loading
# one takes longer than all of this.

# Numbers of system calls of Linux on x86-64 (unistd_64.h).
my ($CHDIR, $SETGROUPS, $SETRESUID, $SETRESGID, $SETSID) = (80, 116, 117, 119, 112);
my ($PIVOT_ROOT, $PRCTL, $MOUNT, $UMOUNT2, $SETHOSTNAME, $UNSHARE) = (155, 157, 165, 166, 170, 272);
# sched.h
my ($NEWNS, $NEWUTS, $NEWIPC, $NEWPID) = (0x20000, 0x4000000, 0x8000000, 0x20000000);
# mount.h
my ($RDONLY, $NOSUID, $NODEV, $NOEXEC, $REMOUNT, $BIND, $REC) = (1, 2, 4, 8, 32, 4096, 16384);
my ($PRIVATE, $DETACH) = (1 << 18, 2);
# prctl.h, capability.h
my ($CAPBSET_DROP, $SET_NO_NEW_PRIVS, $LAST_CAPABILITY) = (24, 38, 63);

my ($pid_descriptor, $root, $folder, $images, $uid, $gid, $groups, $devices, @program) = @ARGV;
die "enter-jail.pl: too few arguments\n" unless @program;

sub call {
  my ($what, $number, @arguments) = @_;
  syscall($number, @arguments) >= 0 or die "$what: $!\n";
}

sub mount_at {
  my ($from, $at, $type, $flags, $options) = @_;
  call("mount $at", $MOUNT, $from, $at, $type, $flags, $options);
}

# What is bound is seen as it is, but for these flags.
sub bind_at {
  my ($from, $at, $flags) = @_;
  mount_at($from, $at, '', $BIND, 0);
  mount_at('', $at, '', $BIND | $REMOUNT | $NOSUID | $flags, 0) if $flags;
}

sub enter {
  call('unshare', $UNSHARE, $NEWNS | $NEWIPC | $NEWUTS);
  mount_at('none', '/', '', $REC | $PRIVATE, 0);
  bind_at($root, $root, $RDONLY | $NODEV);
  bind_at($folder, "$root/machines/machine", $NODEV | $NOEXEC);
  bind_at($images, "$root/base-images", $RDONLY | $NODEV | $NOEXEC) if -d $images;
  mount_at('proc', "$root/proc", 'proc', $NOSUID | $NODEV | $NOEXEC, 'subset=pid');
  for (split /,/, $devices) {
    my ($path, $from) = split /=/;
    bind_at($from, "$root$path", 0);
  }
  call('chdir', $CHDIR, $root);
  my $here = '.';
  call('pivot_root', $PIVOT_ROOT, $here, $here);
  call('umount', $UMOUNT2, $here, $DETACH);
  my $name = 'machine';
  call('sethostname', $SETHOSTNAME, $name, length $name);
  my $machine = '/machines/machine';
  call('chdir', $CHDIR, $machine);
}

sub give_up_rights {
  my @groups = map { $_ + 0 } split /,/, $groups;
  call('setgroups', $SETGROUPS, scalar @groups, pack('L*', @groups));
  syscall($PRCTL, $CAPBSET_DROP, $_, 0, 0, 0) for 0 .. $LAST_CAPABILITY;
  call('setresgid', $SETRESGID, ($gid + 0) x 3);
  call('setresuid', $SETRESUID, ($uid + 0) x 3);
  call('no_new_privs', $PRCTL, $SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

# The child waits for a word of this process, and gives one only when it fails: both pipes are closed by its exec.
pipe(my $told, my $tell) or die "pipe: $!\n";
pipe(my $heard, my $say) or die "pipe: $!\n";
call('unshare', $UNSHARE, $NEWPID);
defined(my $child = fork) or die "fork: $!\n";
if (!$child) {
  close $tell;
  close $heard;
  eval {
    call('setsid', $SETSID);
    enter();
    give_up_rights();
    sysread($told, my $word, 1) or die "the launcher is gone\n";
    exec { $program[0] } @program or die "$program[0]: $!\n";
  };
  syswrite $say, $@;
  exit 1;
}
close $say;
open(my $pid_file, '+<&=', $pid_descriptor) or die "pid file: $!\n";
# In one piece, so that it is never empty: what is left of a longer number stands on a line of its own.
sysseek($pid_file, 0, 0);
syswrite($pid_file, "$child\n") or die "pid file: $!\n";
syswrite($tell, '.');
my $failure = join '', <$heard>;
exit 0 if $failure eq '';
# With its end the lock is free.
waitpid $child, 0;
print STDERR $failure;
exit 1;
