import { expect, test } from 'vitest'
import { type GuestOptions, guestArguments, macAddress, withoutTemplate } from './command-line.ts'

const options: GuestOptions = {
  id: 'vps_00000000000000000000000001',
  vcpus: 2,
  memoryMb: 512,
  accelerator: 'tcg',
  clockOptions: ['tsc_early_khz=2596122', 'tsc=reliable'],
  isFirstBoot: false,
  network: { kind: 'tap' },
}

/** The values of every appearance of an option. */
function valuesOf(name: string, args: string[]): string[] {
  return args.flatMap((arg, at) => (arg === name ? [args[at + 1]!] : []))
}

test('default: QEMU inherits the tap open, and names no interface of the host', () => {
  expect(valuesOf('-netdev', guestArguments(options))).toEqual(['tap,id=net,fd=8'])
})

test("behavior: in QEMU's own network the guest is cut off, but for SSH from its address", () => {
  const listen = { host: '127.0.0.1', port: 22_022 }
  const args = guestArguments({ ...options, network: { kind: 'user', listen } })
  expect(valuesOf('-netdev', args)).toEqual([
    'user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:22022-:22',
  ])
})

test('default: QEMU can not gain privileges, nor start programs', () => {
  const args = guestArguments(options)
  expect(args).toContain('-nodefaults')
  expect(valuesOf('-sandbox', args)).toEqual([
    'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
  ])
})

test("default: the customer's disk honours flushes, and the machine boots from it alone", () => {
  const args = guestArguments(options)
  expect(valuesOf('-drive', args)).toHaveLength(1)
  expect(valuesOf('-drive', args)[0]).toContain('cache=writeback')
  expect(args).not.toContain('-kernel')
})

test('default: its screen and its serial line are served in its own folder, and nowhere else', () => {
  const args = guestArguments(options)
  expect(valuesOf('-vnc', args)).toEqual(['unix:run/screen.sock'])
  expect(valuesOf('-serial', args)).toEqual(['chardev:console'])
})

test('behavior: the seed is attached at first boot only', () => {
  const drives = valuesOf('-drive', guestArguments({ ...options, isFirstBoot: true }))
  expect(drives).toHaveLength(2)
  expect(drives[1]).toContain('file=seed.tar')
})

test('behavior: in rescue the first disk is the one of the rescue system, and the second its own', () => {
  const args = guestArguments({ ...options, rescue: true, isFirstBoot: true })
  const files = valuesOf('-drive', args).map((drive) => /file=([^,]*)/.exec(drive)![1])
  expect(files).toEqual(['rescue.qcow2', 'disk.qcow2', 'rescue-seed.tar'])
  const [first, second] = valuesOf('-device', args).filter((device) => device.startsWith('virtio-blk'))
  expect([first, second]).toEqual(['virtio-blk-pci,drive=rescue,bootindex=0', 'virtio-blk-pci,drive=root'])
})

test('behavior: what cloud-init looks for is there at every boot, read-only, but not in rescue', () => {
  const filesOf = (change: object) =>
    valuesOf('-drive', guestArguments({ ...options, hasCidata: true, ...change })).map(
      (drive) => /file=([^,]*)/.exec(drive)![1],
    )
  expect(filesOf({})).toEqual(['disk.qcow2', 'cidata.iso'])
  expect(filesOf({ isFirstBoot: true })).toEqual(['disk.qcow2', 'cidata.iso', 'seed.tar'])
  expect(filesOf({ isChangeWaiting: true })).toEqual(['disk.qcow2', 'cidata.iso', 'change.tar'])
  expect(filesOf({ rescue: true })).toEqual(['rescue.qcow2', 'disk.qcow2'])
  const [, drive] = valuesOf('-drive', guestArguments({ ...options, hasCidata: true }))
  expect(drive).toContain('readonly=on')
})

test("behavior: an emulated guest is told of the host's clock, an accelerated one is not", () => {
  expect(valuesOf('-smbios', guestArguments(options))).toEqual([
    'type=11,value=tsc_early_khz=2596122 tsc=reliable',
  ])
  const kvm = guestArguments({ ...options, accelerator: 'kvm' })
  expect(valuesOf('-smbios', kvm)).toEqual([])
  expect(valuesOf('-accel', kvm)).toEqual(['kvm'])
})

test('behavior: a machine keeps its hardware address, and shares it with no other', () => {
  expect(macAddress('vps_1')).toBe(macAddress('vps_1'))
  expect(macAddress('vps_1')).toMatch(/^52:54:00(:[0-9a-f]{2}){3}$/)
  expect(macAddress('vps_1')).not.toBe(macAddress('vps_2'))
})

const template = guestArguments({
  ...options,
  isFirstBoot: true,
  memoryFile: { path: 'memory', share: true },
})
const clone = guestArguments({
  ...options,
  isFirstBoot: true,
  memoryFile: { path: '/proc/self/fd/4', share: false },
  isClone: true,
})

test('behavior: a clone differs from its template in nothing that belongs to the state of a machine', () => {
  expect(clone.filter((arg) => !template.includes(arg))).toEqual([
    'memory-backend-file,id=memory,size=512M,mem-path=/proc/self/fd/4,share=off',
    '-incoming',
    'defer',
  ])
  expect(clone.filter((arg) => arg === '-device')).toHaveLength(
    template.filter((arg) => arg === '-device').length,
  )
})

test("behavior: a template in QEMU's own network can be reached by nobody", () => {
  const args = guestArguments({ ...options, network: { kind: 'user' } })
  expect(valuesOf('-netdev', args)).toEqual(['user,id=net,restrict=on,ipv6=off'])
})

test('behavior: started again without its template, a clone is the same machine with memory of its own', () => {
  const own = withoutTemplate(clone)
  expect(valuesOf('-object', own)).toEqual(['memory-backend-ram,id=memory,size=512M'])
  expect(own).not.toContain('-incoming')
  expect(own.filter((arg) => !clone.includes(arg))).toEqual(valuesOf('-object', own))
  expect(clone).toHaveLength(own.length + 2)
  expect(withoutTemplate(guestArguments(options))).toEqual(guestArguments(options))
})
