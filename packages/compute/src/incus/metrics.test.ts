import { expect, test } from 'vitest'
import { readMetrics } from './metrics.ts'

/** Recorded from Incus 6.0.4, of a machine without an agent. */
const RECORDED = `# HELP incus_cpu_seconds_total The total number of CPU time used in seconds.
# TYPE incus_cpu_seconds_total counter
incus_cpu_seconds_total{cpu="0",mode="idle",name="vps-1",project="coinrack",type="virtual-machine"} 100
incus_cpu_seconds_total{cpu="0",mode="system",name="vps-1",project="coinrack",type="virtual-machine"} 0.25
incus_cpu_seconds_total{cpu="0",mode="user",name="vps-1",project="coinrack",type="virtual-machine"} 13.5
incus_disk_read_bytes_total{device="/machine/system.flash0",name="vps-1",project="coinrack",type="virtual-machine"} 0
incus_disk_read_bytes_total{device="/machine/peripheral/dev-incus_root/virtio-backend",name="vps-1",project="coinrack",type="virtual-machine"} 512
incus_disk_written_bytes_total{device="/machine/peripheral/dev-incus_root/virtio-backend",name="vps-1",project="coinrack",type="virtual-machine"} 1024
incus_memory_MemAvailable_bytes{name="vps-1",project="coinrack",type="virtual-machine"} 2.09671456e+08
incus_memory_MemTotal_bytes{name="vps-1",project="coinrack",type="virtual-machine"} 2.68435456e+08
incus_network_receive_bytes_total{device="eth0",name="vps-1",project="coinrack",type="virtual-machine"} 42
incus_network_transmit_bytes_total{device="eth0",name="vps-1",project="coinrack",type="virtual-machine"} 2188
incus_network_transmit_bytes_total{device="eth0",name="vps-2",project="coinrack",type="virtual-machine"} 7
# EOF
`

test('default: each instance has what it used, its idle time left out', () => {
  const metrics = readMetrics(RECORDED)
  expect([...metrics.keys()]).toEqual(['vps-1', 'vps-2'])
  expect(metrics.get('vps-1')).toEqual({
    cpuSeconds: 13.75,
    memoryBytes: 58_764_000,
    diskReadBytes: 512,
    diskWrittenBytes: 1024,
    diskUsedBytes: 0,
    rxBytes: 42,
    txBytes: 2188,
  })
  expect(metrics.get('vps-2')).toMatchObject({ txBytes: 7 })
})

test('behavior: text that is none of these is passed over', () => {
  expect(readMetrics('<html>\nincus_cpu_seconds_total 3\n')).toEqual(new Map())
})
