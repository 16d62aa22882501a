import { expect, test } from 'vitest'
import { deviceNumbers } from './block-device.ts'
import { findHierarchies } from './hierarchies.ts'
import { filesV1, filesV2, limitsOf } from './limits.ts'

const size = { vcpus: 2, memoryMb: 1024 }
const disk = { megabytes: 100, operations: 5_000 }
const written = (files: { file: string; text: string }[]) => files.map(({ file, text }) => `${file}: ${text}`)

test('default: version 1', () => {
  expect(written(filesV1(limitsOf(size, disk, '8:0')))).toEqual([
    'cpu.cfs_period_us: 100000',
    'cpu.cfs_quota_us: 200000',
    'cpu.shares: 2048',
    'memory.limit_in_bytes: 1610612736',
    'pids.max: 130',
    'blkio.throttle.read_bps_device: 8:0 104857600',
    'blkio.throttle.write_bps_device: 8:0 104857600',
    'blkio.throttle.read_iops_device: 8:0 5000',
    'blkio.throttle.write_iops_device: 8:0 5000',
  ])
})

test('default: version 2', () => {
  expect(written(filesV2(limitsOf(size, disk, '8:0')))).toEqual([
    'cpu.max: 200000 100000',
    'cpu.weight: 200',
    'memory.max: 1610612736',
    'pids.max: 130',
    'io.max: 8:0 rbps=104857600 wbps=104857600 riops=5000 wiops=5000',
  ])
})

test('behavior: a share below a whole processor is had against others, not alone', () => {
  const limits = limitsOf({ vcpus: 1, memoryMb: 512, share: 0.25 }, disk, undefined)
  expect(written(filesV1(limits)).slice(1, 3)).toEqual(['cpu.cfs_quota_us: 100000', 'cpu.shares: 256'])
  expect(written(filesV2(limits)).slice(0, 2)).toEqual(['cpu.max: 100000 100000', 'cpu.weight: 25'])
})

test('behavior: a clone may fill its memory, which is charged to it twice', () => {
  expect(limitsOf({ ...size, isClone: true }, disk, undefined).memoryBytes).toBe((2 * 1024 + 512) * 1024 ** 2)
})

test('behavior: without a disk that can be limited, the rest is', () => {
  const limits = limitsOf(size, disk, undefined)
  expect(filesV1(limits).map(({ controller }) => controller)).toEqual(['cpu', 'cpu', 'cpu', 'memory', 'pids'])
  expect(filesV2(limits).map(({ controller }) => controller)).toEqual(['cpu', 'cpu', 'memory', 'pids'])
})

const V1 = [
  'tmpfs /sys/fs/cgroup tmpfs rw 0 0',
  'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0',
  'cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0',
  'cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0',
  'cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd 0 0',
]
const UNIFIED = 'cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0'
const find = (lines: string[], controllers: string) =>
  findHierarchies(lines.join('\n'), async () => controllers)

test('default: a host with version 1, the other one mounted beside it without controllers', async () => {
  expect(await find([...V1, UNIFIED], 'hugetlb\n')).toEqual({
    version: 1,
    mounts: {
      cpu: '/sys/fs/cgroup/cpu,cpuacct',
      memory: '/sys/fs/cgroup/memory',
      pids: '/sys/fs/cgroup/pids',
    },
  })
})

test('default: a host with version 2', async () => {
  const lines = ['cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0']
  expect(await find(lines, 'cpuset cpu io memory hugetlb pids rdma\n')).toEqual({
    version: 2,
    mount: '/sys/fs/cgroup',
  })
})

test('error: a host without', async () => {
  expect(await find(['proc /proc proc rw 0 0', UNIFIED], '')).toBeUndefined()
})

test('default: device numbers', () => {
  expect(deviceNumbers(65_024)).toEqual([254, 0])
  expect(deviceNumbers(0x801)).toEqual([8, 1])
  expect(deviceNumbers(0x10_3142)).toEqual([0x31, 0x142])
})
