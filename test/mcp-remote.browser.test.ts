import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * `mcp-remote` from npm, unmodified, which desktop clients start: it registers, prints the address of the pages, waits for a
 * person, and passes on what its client asks.
 */

const PROXY = join(root, 'node_modules/mcp-remote/dist/proxy.js')

let service: TestService
let browser: Browser
let origin: string
let folder: string
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin } })
  await service.app.listen({ host: '127.0.0.1', port })
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  folder = await mkdtemp(join(tmpdir(), 'mcp-remote-'))
  // It would open a browser of its own.
  await writeFile(join(folder, 'xdg-open'), '#!/bin/sh\n')
  await chmod(join(folder, 'xdg-open'), 0o755)
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function start() {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROXY, `${origin}/mcp/connect`, String(await freePort()), '--allow-http'],
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
    stderr: 'pipe',
  })
  let said = ''
  const pages = new Promise<string>((resolve) => {
    transport.stderr!.on('data', (part: Buffer) => {
      said += part
      const url = /visiting:\s+(http\S+)/.exec(said)?.[1]
      if (url) resolve(url)
    })
  })
  const client = new Client({ name: 'desk', version: '1' })
  return { client, pages, connected: client.connect(transport) }
}

test('default: a person lets it in, it passes on what is asked, and the next time it asks nobody', async () => {
  const first = await start()
  const page = await browser.newPage()
  await page.goto(await first.pages)
  await page.getByLabel('Your e-mail address').fill('desk@rackmail.net')
  await page.getByRole('button', { name: 'Send a code' }).click()
  await page.getByLabel('The code from the mail').fill(/\d{6}/.exec(service.mails.at(-1)!.text)![0])
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Let it in' }).click()
  await first.connected
  const { tools } = await first.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('order_vps')
  const me = (await first.client.callTool({ name: 'whoami', arguments: {} })) as {
    content: { text: string }[]
  }
  expect(me.content[0]!.text).toContain('desk@rackmail.net')
  await first.client.close()

  const again = await start()
  await again.connected
  expect((await again.client.listTools()).tools).toEqual(tools)
  await again.client.close()
})
