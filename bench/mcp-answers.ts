import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'

/*
 * What answers of tools weigh, beside what the same operation answers by REST: `npm run bench:mcp-answers`. A tool is
 * called at two addresses: where the list shows no output schemas, and where it does. Bytes are those of the result, as
 * JSON; of "text" those of its text block, and of "picture" those of the blocks that are pictures. REST is what a tool
 * answered before, once as text and once as structured content.
 */

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const db = openPool(postgres.url, { size: 1, onError: () => {} })
await migrate(db)
await db.end()
const service = await startTestService(
  { features: ['guestCommands'], env: { COINRACK_RATE_DEFAULT: '100000/min' } },
  { database: { url: postgres.url, drop: () => postgres.stop() } },
)
const { token } = await service.customer(90_000_000n)
const tool = (name: string, input: object) => service.tool(name, { ...input }, { token })
const { id: sandbox_id } = (await tool('create_sandbox', { timeout: 86_400, idle_timeout: 0 })).body
const { service_id } = (await tool('order_vps', { product: 'nano', os_id: 1, hostname: 'web' })).body
await service.reconcile()
// The picture of a plot is as good as random to whoever counts bytes.
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(19_000)]).toString('base64')
const plot = `
import base64
class Plot:
    def _repr_png_(self): return base64.b64decode("${png}")
    def __repr__(self): return "<Figure size 640x480 with 1 Axes>"
Plot()`
await tool('write_file', { sandbox_id, path: 'log.txt', content: 'a line of a log\n'.repeat(43_000) })
await tool('exec_command', { sandbox_id, command: 'cat log.txt log.txt | head -c 1000000 > large.txt' })

const cases: [string, string, object, [Parameters<typeof service.ask>[0], string]][] = [
  ['run_code with a plot', 'run_code', { sandbox_id, code: plot }, ['POST', `/sandboxes/${sandbox_id}/run`]],
  [
    'exec_command with 4 MB of output',
    'exec_command',
    { sandbox_id, command: 'seq 1 600000' },
    ['POST', `/sandboxes/${sandbox_id}/exec`],
  ],
  [
    'read_file of 1 MB',
    'read_file',
    { sandbox_id, path: 'large.txt' },
    ['GET', `/sandboxes/${sandbox_id}/files?path=large.txt`],
  ],
  ['list_plans', 'list_plans', {}, ['GET', '/products']],
  [
    'get_vps_status',
    'get_vps_status',
    { service_id, reveal: false },
    ['GET', `/services/${service_id}?reveal=false`],
  ],
]

interface Result {
  content: { type: string; text?: string }[]
  structuredContent?: unknown
}
async function call(path: string, name: string, input: object): Promise<Result> {
  const reply = await service.app.inject({
    method: 'POST',
    url: path,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
      authorization: `Bearer ${token}`,
    },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
  })
  return JSON.parse(/^data: (.*)$/m.exec(reply.body)![1]!).result
}
const bytes = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
const shown = (result: Result) => {
  const pictures = result.content.filter(({ type }) => type === 'image')
  return [bytes(result), bytes(result.content[0]!.text), bytes(result.structuredContent), bytes(pictures) - 2]
}

console.log('| tool | REST, twice | /mcp: all | text | data | pictures | /mcp/all: all | text | data |')
console.log('|---|---|---|---|---|---|---|---|---|')
for (const [title, name, input, [method, path]] of cases) {
  const { sandbox_id: _sandbox, service_id: _service, ...body } = input as Record<string, unknown>
  const rest = await service.ask(method, path, { token, ...(method === 'POST' && { body }) })
  const lean = shown(await call('/mcp', name, input))
  const [all, text, data] = shown(await call('/mcp/all', name, input))
  const before = bytes(JSON.stringify(rest.body)) + bytes(rest.body)
  console.log(`| ${[title, before, ...lean, all, text, data].join(' | ')} |`)
}
await service.close()
await rm(folder, { recursive: true })
