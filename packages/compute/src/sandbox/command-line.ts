import type { GuestNetwork } from '../machine/command-line.ts'
import {
  type Accelerator,
  fileMemory,
  INCOMING,
  macAddress,
  networkBackend,
  processor,
  sandboxSockets,
} from '../machine/command-line.ts'

export interface SandboxGuestOptions {
  /** The id of this machine. */
  id: string
  vcpus: number
  memoryMb: number
  accelerator: Accelerator
  network: GuestNetwork
  /** The kernel that it boots; without one, it waits for a state. */
  boot?: {
    kernel: string
    initrd: string
    /** Kernel options about this host's clock, which an emulated guest needs. */
    clockOptions: string[]
  }
  /** Memory that is a file: shared with it while a template is made, privately on top of it in a clone. */
  memoryFile?: { path: string; share: boolean }
}

/** Files of a sandbox, as QEMU finds them from its working folder. */
export const sandboxFiles = {
  disk: 'disk.qcow2',
  ...sandboxSockets,
  memory: 'memory',
  serialLog: 'serial.log',
} as const

/** The agent finds its port by it. */
const PORT_NAME = 'coinrack.agent'

/**
 * The arguments of QEMU for one sandbox, which run it in its folder: a machine with nothing but a disk, a network card,
 * a line to its agent and a source of randomness, all virtio without PCI. For one kind of network they are the same for
 * all of a size but for their names, so that a saved state of one fits another.
 */
export function sandboxArguments(options: SandboxGuestOptions): string[] {
  const { id, vcpus, memoryMb, memoryFile, accelerator, boot } = options
  return [
    ['-name', `${id},debug-threads=on`],
    ['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    [
      '-object',
      memoryFile ? fileMemory(memoryMb, memoryFile) : `memory-backend-ram,id=memory,size=${memoryMb}M`,
    ],
    ['-machine', 'microvm,rtc=on,pit=on,pic=on,isa-serial=on,memory-backend=memory'],
    processor({ accelerator }),
    ['-smp', String(Math.ceil(vcpus))],
    ['-m', `${memoryMb}M`],
    boot ? ['-kernel', boot.kernel, '-initrd', boot.initrd] : INCOMING,
    boot ? ['-append', kernelOptions(accelerator, boot.clockOptions)] : [],
    [
      '-drive',
      `id=root,file=${sandboxFiles.disk},format=qcow2,if=none,cache=writeback,discard=unmap,aio=threads`,
    ],
    ['-device', 'virtio-blk-device,drive=root'],
    ['-netdev', networkBackend(options.network)],
    // Not a migration, so QEMU need not announce the MAC address.
    ['-device', `virtio-net-device,netdev=net,mac=${macAddress(id)},guest_announce=off`],
    ['-device', 'virtio-serial-device'],
    ['-chardev', `socket,id=agent,path=${sandboxFiles.agent},server=on,wait=off`],
    ['-device', `virtserialport,chardev=agent,name=${PORT_NAME}`],
    ['-device', 'virtio-rng-device'],
    ['-chardev', `socket,id=monitor,path=${sandboxFiles.monitor},server=on,wait=off`],
    ['-mon', 'chardev=monitor,mode=control'],
    // The log of a machine that boots is read when it fails; the logs of others would only grow.
    [
      '-chardev',
      boot ? `file,id=serial,path=${sandboxFiles.serialLog},append=on` : 'null,id=serial',
      ...['-serial', 'chardev:serial'],
    ],
    ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
  ].flat()
}

/**
 * Options that turn off mitigations which cost much under emulation and protect nothing there, or only the owner of the
 * whole machine, who may turn them on: see decision 130.
 */
const CHEAP_EMULATION = [
  'mitigations=off',
  'norandmaps',
  'init_on_alloc=0',
  'rcupdate.rcu_expedited=1',
  'transparent_hugepage=madvise',
  'psi=0',
  'nowatchdog',
  'lsm=landlock',
  'randomize_kstack_offset=off',
  'hardened_usercopy=off',
]

/** The end of the kernel is the end of the machine. */
function kernelOptions(accelerator: Accelerator, clockOptions: string[]): string {
  const always = [
    'console=ttyS0',
    'quiet',
    'loglevel=3',
    'panic=-1',
    'reboot=t',
    '8250.nr_uarts=1',
    'audit=0',
  ]
  const emulated = [
    'no_timer_check',
    'noreplace-smp',
    'cryptomgr.notests',
    ...CHEAP_EMULATION,
    ...clockOptions,
  ]
  return [...always, ...(accelerator === 'tcg' ? emulated : [])].join(' ')
}
