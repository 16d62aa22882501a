import { createHash } from 'node:crypto'
import { basePath, operationList, walletPath } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestService, type TestService } from '../../process/testing.ts'
import { mcpAddresses } from '../mcp/addresses.ts'
import { documents } from './documents.ts'
import { protocolVersions, serverName } from './mcp-registry.ts'

/** The public key of a pair that was thrown away. */
const PROOF = 'v=MCPv1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

let service: TestService
let origin: string
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({
    env: { COINRACK_PUBLIC_URL: origin, COINRACK_SANDBOXES: 'true', COINRACK_MCP_REGISTRY_AUTH: PROOF },
  })
  await service.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => service.close())

const read = async (path: string) => (await fetch(origin + path)).text()
// biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
const readJson = async (path: string): Promise<any> => JSON.parse(await read(path))

describe('every document', () => {
  test.each(documents.map(({ path, type }) => [path, type]))(
    'default: %s is told again only when it has changed, and may be read by pages of any origin',
    async (path, type) => {
      const first = await fetch(origin + path, { headers: { origin: 'https://page.rackmail.net' } })
      expect(first.status).toBe(200)
      expect(first.headers.get('content-type')).toBe(type)
      expect(first.headers.get('cache-control')).toMatch(/^(no-cache|public, max-age=3600)$/)
      expect(first.headers.get('access-control-allow-origin')).toBe('*')
      const tag = first.headers.get('etag')!
      const again = await fetch(origin + path, { headers: { 'if-none-match': tag } })
      expect([again.status, again.headers.get('etag')]).toEqual([304, tag])
      const asked = await fetch(origin + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://page.rackmail.net',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'if-none-match',
        },
      })
      expect(asked.headers.get('access-control-allow-headers')).toContain('If-None-Match')
    },
  )

  test('behavior: names the public address, whatever Host a request has', async () => {
    for (const { path } of documents) {
      const { body } = await service.app.inject({ url: path, headers: { host: 'evil.example' } })
      expect(body, path).not.toContain('evil.example')
    }
  })

  test('default: every link in every document leads somewhere', async () => {
    const links = new Map<string, string>()
    for (const path of [...documents.map((document) => document.path), '/docs']) {
      const text = await read(path)
      for (const link of linksIn(text)) links.set(link, path)
    }
    expect(links.size).toBeGreaterThan(20)
    const dead: unknown[] = []
    for (const [link, path] of links) {
      const status = await follow(link)
      if (status !== 200) dead.push([path, link, status])
    }
    expect(dead).toEqual([])
  })
})

/** All addresses below this service that a text has, as links of Markdown, HTML or JSON; templates are none. */
function linksIn(text: string): string[] {
  const absolute = text.match(new RegExp(`${origin}[^\\s"'<>)\`,{}]*({?)`, 'g')) ?? []
  const relative = [...text.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => origin + path)
  return [...absolute, ...relative]
    .filter((link) => !link.endsWith('{'))
    .map((link) => link.replace(/[.;]$/, ''))
}

/** What a link is for: agent addresses are connected to, operations are asked as they are declared, the rest is read. */
async function follow(link: string): Promise<number> {
  const { pathname, hash } = new URL(link)
  const at = mcpAddresses.find(({ path }) => path === pathname)
  if (at?.forGrants) {
    const { status, headers } = await fetch(link, { method: 'POST' })
    return status === 401 && headers.get('www-authenticate')?.includes('resource_metadata') ? 200 : status
  }
  if (at) {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(link)))
    await client.close()
    return 200
  }
  // The base of REST is no page; below it and below that of wallets are operations.
  if (pathname === basePath) return 200
  const op = operationList.find(([, { path, atOrigin }]) => pathname === (atOrigin ? path : basePath + path))
  if (op) {
    const { status } = await service.ask(op[1].method, pathname.replace(basePath, ''))
    return [401, 402, 422].includes(status) ? 200 : status
  }
  expect(pathname.startsWith(`${walletPath}/`)).toBe(false)
  const answer = await fetch(link)
  const text = await answer.text()
  return hash && !text.includes(`id="${hash.slice(1)}"`) ? 404 : answer.status
}

/** The facts of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json that concern a remote server. */
const ServerName = z
  .string()
  .min(3)
  .max(200)
  .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
const KeyValueInput = z.strictObject({
  name: z.string(),
  description: z.string(),
  isRequired: z.boolean(),
  isSecret: z.boolean(),
  placeholder: z.string(),
})
const remote = {
  type: z.literal('streamable-http'),
  url: z.string().regex(/^https?:\/\/[^\s]+$/),
  headers: z.array(KeyValueInput).optional(),
}
const identity = {
  name: ServerName,
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+/),
  websiteUrl: z.url(),
}
const ServerJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  ...identity,
  remotes: z.array(z.strictObject(remote)).min(1),
})
const ServerCard = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  ...identity,
  remotes: z.array(z.strictObject({ ...remote, supportedProtocolVersions: z.array(z.iso.date()) })).min(1),
})
const AiCatalog = z.strictObject({
  specVersion: z.literal('1.0'),
  host: z.strictObject({ displayName: z.string(), documentationUrl: z.url() }),
  entries: z.array(
    z.strictObject({
      identifier: z.string().regex(/^urn:air:[\w.-]+(:[\w.-]+)+$/),
      type: z.string(),
      displayName: z.string().optional(),
      url: z.url(),
    }),
  ),
})

describe('the registry', () => {
  test('default: server.json has all agent addresses, under a name that the host can prove', async () => {
    const entry = ServerJson.parse(await readJson('/server.json'))
    expect(entry.remotes.map(({ url }) => url)).toEqual(mcpAddresses.map(({ path }) => origin + path))
    expect(serverName('https://rack.example.net')).toBe('net.example.rack/coinrack')
    for (const host of ['rack.example.net', '192.0.2.1:8080', '[2001:db8::1]', 'localhost'])
      ServerName.parse(serverName(`https://${host}`))
  })

  test('default: the proof of the name is served as it was set, and is nothing without one', async () => {
    expect(await read('/.well-known/mcp-registry-auth')).toBe(PROOF)
    const { config } = service.services
    const { write } = documents.find(({ path }) => path === '/.well-known/mcp-registry-auth')!
    const unset = { ...service.services, config: { ...config, mcpRegistryAuth: undefined } }
    expect(write(unset)).toBeUndefined()
  })
})

describe('the card and the catalog', () => {
  test('default: the catalog leads to the card and to the skill, each of the type that it says', async () => {
    const catalog = AiCatalog.parse(await readJson('/.well-known/ai-catalog.json'))
    const [card, skill] = catalog.entries
    expect(card).toMatchObject({ type: 'application/mcp-server-card+json', url: `${origin}/mcp/server-card` })
    expect((await fetch(card!.url)).headers.get('content-type')).toBe(card!.type)
    expect((await fetch(skill!.url)).headers.get('content-type')).toContain('text/markdown')
  })

  test('behavior: the card says what a connection then shows', async () => {
    const card = ServerCard.parse(await readJson('/mcp/server-card'))
    expect(card.remotes.map(({ url }) => url)).toEqual(mcpAddresses.map(({ path }) => origin + path))
    for (const { path } of mcpAddresses.filter(({ forGrants }) => !forGrants)) {
      const url = origin + path
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      const { name, title, version, description, websiteUrl } = client.getServerVersion()!
      expect({ title, version, description, websiteUrl }).toEqual({
        title: card.title,
        version: card.version,
        description: card.description,
        websiteUrl: card.websiteUrl,
      })
      expect(card.name.split('/')[1]).toBe(name)
      expect(client.getNegotiatedProtocolVersion()).toBe(protocolVersions[0])
      await client.close()
    }
    const connect = (protocolVersion: string) =>
      fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
        }),
      }).then((answer) => answer.text())
    for (const version of protocolVersions.slice(1))
      expect(await connect(version)).toContain(`"protocolVersion":"${version}"`)
  })
})

describe('the skill', () => {
  test('default: front matter as agents that load skills read it, and instructions that name only tools that exist', async () => {
    const text = await read('/skill.md')
    const [, front, body] = /^---\n([\s\S]+?)\n---\n([\s\S]+)$/.exec(text)!
    const Front = z.strictObject({
      name: z
        .string()
        .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
        .max(64),
      description: z.string().min(1).max(1024),
      compatibility: z.string().max(500),
      metadata: z.record(z.string(), z.string()),
    })
    expect(Front.parse(load(front!)).name).toBe('coinrack')
    // Loaded whole when it is used: the specification wants less than 5,000 tokens, of some four characters each.
    expect(text.length).toBeLessThan(20_000)
    for (const [name] of operationList) expect(body).toContain(`\`${toolName(name)}\``)
    const steps = [...body!.matchAll(/^\d+\. `(\w+)`/gm)].map(([, tool]) => tool)
    expect(steps.length).toBe(10)
    const tools = new Set(operationList.map(([name]) => toolName(name)))
    expect(steps.filter((tool) => !tools.has(tool!))).toEqual([])
  })

  test('default: its index has the digest of its bytes, at both addresses that clients know', async () => {
    const index = await readJson('/.well-known/agent-skills/index.json')
    expect(index.skills).toHaveLength(1)
    const [{ name, type, url, digest, description }] = index.skills
    expect({ name, type }).toEqual({ name: 'coinrack', type: 'skill-md' })
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(digest).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
    expect(await readJson('/.well-known/skills/index.json')).toEqual({
      skills: [{ name, description, files: ['SKILL.md'] }],
    })
    expect(await read('/.well-known/skills/coinrack/SKILL.md')).toBe(bytes.toString())
  })
})

describe('texts for models', () => {
  test('default: llms.txt links to every operation, llms-full.txt has every input of each', async () => {
    const [short, full] = [await read('/llms.txt'), await read('/llms-full.txt')]
    for (const [name, op] of operationList) {
      expect(short).toContain(`[${toolName(name)}](${origin}/docs#${name})`)
      const entry = full.split(/^### /m).find((part) => part.split(/[,\n]/)[0] === toolName(name))!
      for (const field of Object.keys(op.input.shape)) expect(entry, name).toContain(`- ${field} (`)
      for (const code of op.errors) expect(entry, name).toContain(code)
    }
  })

  test('default: openapi.json at the root is the one below the base path', async () => {
    expect(await read('/openapi.json')).toBe(await read(`${basePath}/openapi.json`))
  })
})
