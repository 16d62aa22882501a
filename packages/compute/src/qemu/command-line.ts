import { createHash } from 'node:crypto'
import type { SshAddress } from '../vps-driver.ts'

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
  /** Where SSH is served on the host, forwarded to the guest's port 22. */
  listen: SshAddress
}

/** Files of a machine, as QEMU finds them from its working folder: short, since socket paths must be. */
export const guestFiles = {
  disk: 'disk.qcow2',
  seed: 'seed.tar',
  monitor: 'monitor.sock',
  console: 'console.sock',
  screen: 'screen.sock',
  agent: 'agent.sock',
  serialLog: 'serial.log',
} as const

export const SEED_SERIAL = 'coinrack-seed'
export const QEMU = 'qemu-system-x86_64'

/** Host memory for translated code, per machine. */
const TRANSLATION_CACHE_MB = 128

/**
 * The arguments of QEMU for one guest, which run it in the machine's folder.
 * Nothing is attached that is not named here; the guest reaches nothing outside and only SSH reaches it.
 */
export function guestArguments(options: GuestOptions): string[] {
  const { id, vcpus, memoryMb, isFirstBoot, listen } = options
  return [
    ['-name', `${id},debug-threads=on`],
    ['-nodefaults', '-no-user-config'],
    ['-machine', 'q35,sata=off,smbus=off,usb=off,vmport=off'],
    processor(options),
    ['-smp', String(vcpus)],
    ['-m', `${memoryMb}M`],
    ['-boot', 'strict=on'],
    hostOptions(options),
    [
      '-drive',
      `id=root,file=${guestFiles.disk},format=qcow2,if=none,cache=writeback,discard=unmap,aio=threads`,
    ],
    ['-device', 'virtio-blk-pci,drive=root,bootindex=0'],
    isFirstBoot
      ? [
          ...['-drive', `id=seed,file=${guestFiles.seed},format=raw,if=none,cache=writethrough`],
          ...['-device', `virtio-blk-pci,drive=seed,serial=${SEED_SERIAL}`],
        ]
      : [],
    ['-netdev', `user,id=net,restrict=on,ipv6=off,hostfwd=tcp:${listen.host}:${listen.port}-:22`],
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
    // A screen of its own, which is drawn only while somebody looks.
    ['-device', 'VGA,vgamem_mb=4'],
    ['-display', 'none', '-vnc', `unix:${guestFiles.screen}`],
    ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
  ].flat()
}

/**
 * The flags switched off under emulation: 5-level paging costs time; cmpxchg16b of QEMU 7.2 lets Linux 6.12 oops; a
 * guest has no use for virtualization inside emulation, but would load it.
 */
export function processor({ accelerator }: { accelerator: Accelerator }): string[] {
  if (accelerator === 'kvm') return ['-accel', 'kvm', '-cpu', 'host']
  return ['-accel', `tcg,thread=multi,tb-size=${TRANSLATION_CACHE_MB}`, '-cpu', 'max,-la57,-cx16,-svm']
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
