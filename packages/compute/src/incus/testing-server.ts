import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { Instance } from './instance.ts'
import { createRecordedExecs, type ExecBody } from './testing-exec.ts'

/*
 * The part of Incus's API that the driver uses, as answers of a real cluster (6.0.4) were recorded: for tests of the
 * driver without one. Members are servers of their own with one state; the inside of every instance is this host.
 */

type Body = Partial<Instance> & {
  action?: string
  live?: boolean
  config?: Record<string, string>
} & Partial<ExecBody>

export interface RecordedCluster {
  members: { name: string; url: string }[]
  certificate: string
  key: string
  instances: Map<string, Instance>
  images: Set<string>
  /** The text with which programs inside instances are refused. */
  refuseExec: string | undefined
  /** The websocket that controls a program comes after its end, as for a short one on a busy cluster. */
  isControlLate: boolean
  /** Each member reads the disks of all. */
  hasSharedDisks: boolean
  /** The requests that came, as `node1 PUT /1.0/instances/NAME`. */
  readonly calls: string[]
  /** Does something before a request is handled; `lost` answers nothing once it is done, `hang` answers nothing at all. */
  meddle: (call: string) => 'lost' | 'hang' | undefined
  /** The daemon of a member ends, or comes back. */
  setAway(member: string, isAway: boolean): void
  close(): Promise<void>
}

const NAMES = ['node1', 'node2', 'node3']

export async function startRecordedCluster(): Promise<RecordedCluster> {
  const { certificate, key } = await makeCertificate()
  const instances = new Map<string, Instance>()
  const operations = new Map<string, { err: string }>()
  const execs = createRecordedExecs()
  const away = new Set<string>()
  const cluster: RecordedCluster = {
    members: [],
    certificate,
    key,
    instances,
    images: new Set(),
    refuseExec: undefined,
    isControlLate: false,
    hasSharedDisks: false,
    calls: [],
    meddle: () => undefined,
    setAway: (member, isAway) => void (isAway ? away.add(member) : away.delete(member)),
    close: async () => void (await Promise.all(servers.map(closeServer))),
  }

  const seen = (instance: Instance) =>
    away.has(instance.location) ? { ...instance, status: 'Error', config: null, devices: null } : instance

  /** @returns what is so afterwards, or throws the text of a refusal */
  const handle = (method: string, path: string, query: URLSearchParams, body: Body): unknown => {
    const [, , kind, name, rest] = path.split('/')
    if (kind === 'images') {
      if (method === 'GET') return [...cluster.images].map((image) => `/1.0/images/${image}`)
    }
    if (kind === 'operations')
      return name ? execs.waitFor(name).then((exec) => exec ?? operationOf(name)) : {}
    if (kind === 'resources') return { cpu: { total: 2 } }
    if (kind === 'cluster')
      return { sysinfo: { total_ram: 2 ** 34 }, storage_pools: { cow: { space: { total: 2 ** 38 } } } }
    if (kind !== 'instances') throw new Refusal(404, 'not found')
    if (!name) {
      if (method === 'GET') return [...instances.values()].map(seen)
      return background(() => {
        if (instances.has(body.name!)) throw new Refusal(400, 'UNIQUE constraint failed: instances.name')
        instances.set(body.name!, {
          name: body.name!,
          status: 'Running',
          location: query.get('target')!,
          config: body.config!,
          devices: body.devices!,
          last_used_at: new Date().toISOString(),
        })
      })
    }
    const instance = instances.get(name)
    if (!instance) throw new Refusal(404, 'Instance not found')
    if (method === 'POST' && !rest) return background(() => move(instance, query.get('target')!, body))
    if (away.has(instance.location))
      throw new Refusal(500, 'Missing event connection with target cluster member')
    if (method === 'GET') return instance
    if (rest === 'exec') {
      if (instance.status !== 'Running') throw new Refusal(400, 'Instance is not running')
      if (cluster.refuseExec) throw new Refusal(500, cluster.refuseExec)
      const { id, fds } = execs.begin(body as ExecBody)
      return new Background(id, fds)
    }
    if (rest === 'state')
      return background(() => {
        const isStart = body.action === 'start'
        if ((instance.status === 'Running') === isStart)
          throw new Refusal(400, `The instance is already ${isStart ? 'running' : 'stopped'}`)
        instance.status = isStart ? 'Running' : 'Stopped'
        if (isStart) instance.last_used_at = new Date().toISOString()
      })
    if (method === 'DELETE')
      return background(() => {
        if (instance.status === 'Running') throw new Refusal(400, 'Instance is running')
        instances.delete(name)
      })
    const change = () => {
      if (method === 'PATCH') instance.config = withoutEmpty({ ...instance.config, ...body.config })
      else Object.assign(instance, { config: withoutEmpty(body.config!), devices: body.devices })
    }
    return method === 'PUT' ? background(change) : change()
  }

  const move = (instance: Instance, target: string, { live = false }: Body) => {
    if (away.has(target)) throw new Refusal(400, 'Target cluster member is offline')
    if (away.has(instance.location)) {
      if (!cluster.hasSharedDisks)
        throw new Refusal(
          400,
          "The cluster member hosting the instance is offline and it isn't on remote storage",
        )
      instance.status = 'Stopped'
    } else if (instance.status === 'Running' && !live)
      throw new Refusal(400, 'Instance must be stopped to be moved statelessly')
    instance.location = target
  }

  const background = (work: () => void) => {
    const id = randomUUID()
    try {
      work()
      operations.set(id, { err: '' })
    } catch (error) {
      operations.set(id, { err: (error as Error).message })
    }
    return new Background(id)
  }
  const operationOf = (id: string) => {
    const operation = operations.get(id)
    if (!operation) throw new Refusal(404, 'Operation not found')
    return { id, status_code: operation.err ? 400 : 200, err: operation.err, metadata: null, resources: null }
  }

  const servers = await Promise.all(
    NAMES.map(async (member) => {
      const server = createServer({ cert: certificate, key }, async (request, response) => {
        const { pathname, searchParams } = new URL(request.url!, 'https://cluster')
        const call = `${member} ${request.method} ${pathname}`
        cluster.calls.push(call)
        const fault = away.has(member) ? 'hang' : cluster.meddle(call)
        if (fault === 'hang') return
        const body = await bodyOf(request)
        const answer = (status: number, content: object, headers = {}) => {
          if (fault === 'lost') return request.socket.destroy()
          response
            .writeHead(status, { 'content-type': 'application/json', ...headers })
            .end(JSON.stringify(content))
        }
        try {
          const path = pathname.replace(/\/wait$/, '')
          const result = await handle(request.method!, path, searchParams, body)
          if (result instanceof Background)
            return answer(202, {
              type: 'async',
              operation: `/1.0/operations/${result.id}?project=coinrack`,
              metadata: { id: result.id, metadata: { fds: result.fds } },
            })
          const failed = pathname.endsWith('/wait') && (result as { err: string }).err
          if (failed) return answer(200, { type: 'error', error: failed, error_code: 400, metadata: null })
          answer(200, { type: 'sync', metadata: result ?? {} }, { etag: 'same' })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          answer(error.status, { type: 'error', error: error.message, error_code: error.status })
        }
      }).listen(0, '127.0.0.1')
      execs.attach(server, () => cluster.isControlLate)
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as { port: number }
      cluster.members.push({ name: member, url: `https://127.0.0.1:${port}` })
      return server
    }),
  )
  cluster.members.sort((a, b) => a.name.localeCompare(b.name))
  return cluster
}

class Background {
  readonly id: string
  /** The secrets of its websockets. */
  readonly fds: Record<string, string>
  constructor(id: string, fds: Record<string, string> = {}) {
    this.id = id
    this.fds = fds
  }
}

class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const withoutEmpty = (config: Record<string, string>) =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== ''))

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return request.headers['content-type'] === 'application/json'
    ? JSON.parse(Buffer.concat(parts).toString())
    : {}
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function makeCertificate(): Promise<{ certificate: string; key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-incus-'))
  try {
    const [key, certificate] = [join(folder, 'key'), join(folder, 'crt')]
    const kind = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      '/CN=cluster',
    ]
    await runCommand('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', certificate])
    return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
