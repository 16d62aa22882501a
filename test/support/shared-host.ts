import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { deserialize, serialize } from 'node:v8'
import { DriverError } from '@coinrack/compute/ports/vps-driver.ts'
import type { Config } from '@coinrack/server/config/config.ts'
import { type FakeHost, fakeHost } from '@coinrack/server/hosts/testing.ts'
import type { MachineHost } from '@coinrack/server/platform/machine-host.ts'

/*
 * A fake of a remote host that replicas in processes of their own reach over HTTP, so that its machines outlive them.
 */

const PORTS = ['driver', 'guests', 'console', 'snapshots', 'retainedDisks'] as const

interface Call {
  port: (typeof PORTS)[number]
  name: string
  args: unknown[]
  /** The process that asks. */
  pid: number
}
type Answer = { result: unknown } | { code: DriverError['code'] | undefined; message: string }

export interface SharedHost {
  /** For the replicas. */
  url: string
  machines: FakeHost['driver']['machines']
  close(): void
}

const identity = { id: 'east-1', region: 'east' }

/**
 * Opens the host.
 * @param watch told of each call, before it is done and after, when its answer is not sent yet
 */
export async function openSharedHost(
  folder: string,
  watch: (call: Call, when: 'before' | 'after') => void,
): Promise<SharedHost> {
  const host = fakeHost(
    { ...identity, network: {} as MachineHost['network'] },
    { clock: { now: () => new Date() }, capacity: { vcpus: 1000, memoryMb: 1_000_000, diskGb: 100_000 } },
    folder,
  )
  const server = createServer(async (request, reply) => {
    const call = deserialize(await buffer(request)) as Call
    watch(call, 'before')
    const answer: Answer = await Promise.try(() => methodOf(host[call.port], call.name)(...call.args)).then(
      (result) => ({ result }),
      (error: DriverError) => ({ code: error.code, message: error.message }),
    )
    watch(call, 'after')
    reply.end(serialize(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    machines: host.driver.machines,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

type Method = (...args: unknown[]) => unknown
const methodOf = (port: object, name: string) => (Reflect.get(port, name) as Method).bind(port)

/** The same host as a replica sees it. */
export function sharedHostAt(url: string, config: Config): MachineHost {
  const portAt = (port: Call['port']) =>
    new Proxy(
      {},
      {
        get:
          (_target, name) =>
          async (...args: unknown[]) => {
            const call: Call = { port, name: String(name), args, pid: process.pid }
            const reply = await fetch(url, { method: 'POST', body: serialize(call) })
            const answer = deserialize(Buffer.from(await reply.arrayBuffer())) as Answer
            if ('result' in answer) return answer.result
            throw answer.code ? new DriverError(answer.code, answer.message) : new Error(answer.message)
          },
      },
    )
  const ports = Object.fromEntries(PORTS.map((port) => [port, portAt(port)]))
  const network = { ...config, publicIp: '192.0.2.1' }
  return { ...identity, kind: 'fake', isRemote: true, network, ...ports } as unknown as MachineHost
}
