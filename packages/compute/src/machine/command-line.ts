import { createHash } from 'node:crypto'
import { TAP_DESCRIPTOR } from '../network/take-tap.ts'
import type { SshAddress } from '../ports/vps-driver.ts'

/** How guest instructions are run: by the processor, or translated by QEMU. */
export type Accelerator = 'kvm' | 'tcg'

export interface GuestOptions {
  id: string
  vcpus: number
  memoryMb: number
  accelerator: Accelerator
  /** Kernel options about this host's clock, which an emulated guest needs. */
  clockOptions: string[]
  /** The seed is attached until the guest has consumed it. */
  isFirstBoot: boolean
  network: GuestNetwork
  /** It boots the rescue system, with its own disk as the second one. */
  rescue?: boolean | undefined
  /** A change for this boot is attached in the same way. */
  isChangeWaiting?: boolean
  /** The volume that the cloud-init of a foreign image looks for is attached at every boot. */
  hasCidata?: boolean
  /** Memory that is a file: shared with it while a template is made, privately on top of it in a clone. */
  memoryFile?: { path: string; share: boolean }
  /** Waits for the state of a template, instead of booting. */
  isClone?: boolean
}

/**
 * `tap`: the machine's own network (see `network/`), whose tap QEMU inherits open. `user`: QEMU's own, where this host
 * allows no other: the guest reaches nothing, and only SSH reaches it. A template is not reachable.
 */
export type GuestNetwork = { kind: 'tap' } | { kind: 'user'; listen?: SshAddress }

/** Files of a machine, as QEMU finds them from its working folder: short, since socket paths must be. */
export const guestFiles = {
  disk: 'disk.qcow2',
  seed: 'seed.tar',
  changeSeed: 'change.tar',
  cidata: 'cidata.iso',
  rescueDisk: 'rescue.qcow2',
  rescueSeed: 'rescue-seed.tar',
  monitor: 'run/monitor.sock',
  console: 'run/console.sock',
  screen: 'run/screen.sock',
  agent: 'run/agent.sock',
  outgoing: 'state.sock',
  memory: 'memory',
  serialLog: 'serial.log',
} as const

/** Sockets of a machine that is nothing but a sandbox. */
export const sandboxSockets = { monitor: 'run/control.sock', agent: 'run/work.sock' } as const

export const SEED_SERIAL = 'coinrack-seed'
export const QEMU = 'qemu-system-x86_64'

/** Host memory for translated code, per machine. */
const TRANSLATION_CACHE_MB = 128

/**
 * The arguments of QEMU for one guest, which run it in the machine's folder.
 * Nothing is attached that is not named here. For one kind of network they are the same for every machine but for its
 * name, size and hardware address, so that a saved state of one fits another.
 */
export function guestArguments(options: GuestOptions): string[] {
  const { id, vcpus, memoryMb, isFirstBoot, isChangeWaiting, rescue, hasCidata, memoryFile } = options
  return [
    ['-name', `${id},debug-threads=on`],
    ['-nodefaults', '-no-user-config'],
    memoryFile ? ['-object', fileMemory(memoryMb, memoryFile)] : [],
    ['-machine', `q35,sata=off,smbus=off,usb=off,vmport=off${memoryFile ? `,memory-backend=${MEMORY}` : ''}`],
    processor(options),
    ['-smp', String(vcpus)],
    ['-m', `${memoryMb}M`],
    ['-boot', 'strict=on'],
    hostOptions(options),
    // The first disk is the one that it boots from. The machine's own is `root` in any case.
    rescue ? diskDrive('rescue', guestFiles.rescueDisk, ',bootindex=0') : [],
    diskDrive('root', guestFiles.disk, rescue ? '' : ',bootindex=0'),
    hasCidata && !rescue ? cidataDrive : [],
    // The guest finds only one of two seeds: a first boot comes before any change.
    isFirstBoot
      ? seedDrive(rescue ? guestFiles.rescueSeed : guestFiles.seed)
      : isChangeWaiting
        ? seedDrive(guestFiles.changeSeed)
        : [],
    ['-netdev', networkBackend(options.network)],
    ['-device', `virtio-net-pci,netdev=net,mac=${macAddress(id)},romfile=`],
    ['-device', 'virtio-serial-pci'],
    ['-chardev', `socket,id=agent,path=${guestFiles.agent},server=on,wait=off`],
    ['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ['-device', 'virtio-rng-pci'],
    ['-device', 'virtio-balloon-pci,id=balloon'],
    [
      '-chardev',
      `socket,id=console,path=${guestFiles.console},server=on,wait=off,logfile=${guestFiles.serialLog},logappend=on`,
    ],
    ['-serial', 'chardev:console'],
    ['-chardev', `socket,id=monitor,path=${guestFiles.monitor},server=on,wait=off`],
    ['-mon', 'chardev=monitor,mode=control'],
    // A screen of its own, which is drawn only while it is looked at.
    ['-device', 'VGA,vgamem_mb=4'],
    ['-display', 'none', '-vnc', `unix:${guestFiles.screen}`],
    ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    options.isClone ? INCOMING : [],
  ].flat()
}

const MEMORY = 'memory'
export const INCOMING = ['-incoming', 'defer']

export const fileMemory = (memoryMb: number, { path, share }: { path: string; share: boolean }) =>
  `memory-backend-file,id=${MEMORY},size=${memoryMb}M,mem-path=${path},share=${share ? 'on' : 'off'}`

/**
 * The arguments that start the same machine without its template: what a snapshot of a clone's memory fits into. Those
 * of a machine that is no clone stay as they are.
 */
export function withoutTemplate(args: string[]): string[] {
  const at = args.indexOf(INCOMING[0]!)
  const own = at < 0 ? args : args.toSpliced(at, INCOMING.length)
  return own.map((arg) => arg.replace(/^memory-backend-file,(id=\w+,size=\w+),.*$/, 'memory-backend-ram,$1'))
}

export function networkBackend(network: GuestNetwork): string {
  if (network.kind === 'tap') return `tap,id=net,fd=${TAP_DESCRIPTOR}`
  const { listen } = network
  return `user,id=net,restrict=on,ipv6=off${listen ? `,hostfwd=tcp:${listen.host}:${listen.port}-:22` : ''}`
}

const diskDrive = (id: string, file: string, boot: string) => [
  ...['-drive', `id=${id},file=${file},format=qcow2,if=none,cache=writeback,discard=unmap,aio=threads`],
  ...['-device', `virtio-blk-pci,drive=${id}${boot}`],
]

const cidataDrive = [
  ...['-drive', `id=cidata,file=${guestFiles.cidata},format=raw,if=none,readonly=on`],
  ...['-device', 'virtio-blk-pci,drive=cidata'],
]

const seedDrive = (file: string) => [
  ...['-drive', `id=seed,file=${file},format=raw,if=none,cache=writethrough`],
  ...['-device', `virtio-blk-pci,drive=seed,serial=${SEED_SERIAL}`],
]

/**
 * The flags switched off under emulation: 5-level paging costs time; cmpxchg16b of QEMU 7.2 lets Linux 6.12 oops; a
 * guest has no use for virtualization inside emulation, but would load it; with "enhanced" byte moves (erms) a guest
 * copies and clears byte by byte, which only a real processor makes quick.
 */
export function processor({ accelerator }: { accelerator: Accelerator }): string[] {
  if (accelerator === 'kvm') return ['-accel', 'kvm', '-cpu', 'host']
  return ['-accel', `tcg,thread=multi,tb-size=${TRANSLATION_CACHE_MB}`, '-cpu', 'max,-la57,-cx16,-svm,-erms']
}

/**
 * Kernel options that the boot loader of our images takes from SMBIOS.
 * The file system of a first boot was just made: it needs no check.
 */
function hostOptions({ accelerator, clockOptions, isFirstBoot }: GuestOptions): string[] {
  const options = [...(accelerator === 'tcg' ? clockOptions : []), ...(isFirstBoot ? ['fsck.mode=skip'] : [])]
  return options.length === 0 ? [] : ['-smbios', `type=11,value=${options.join(' ')}`]
}

/** Always the same for one machine, within the range that QEMU's makers set aside. */
export function macAddress(id: string): string {
  const bytes = createHash('sha256').update(id).digest().subarray(0, 3)
  return `52:54:00:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`
}
