import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket, { createWebSocketStream } from 'ws'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { findVps } from '../find.ts'
import { withRawInput } from '../raw-input.ts'

export const consoles: AddCommands = (program, act) => {
  program
    .command('console')
    .description('connect to the serial console of a VPS; Ctrl-] ends it')
    .argument('<name>')
    .option('--screen', 'only show the address of its screen, for a browser')
    .action(
      act(async (call, name: string, { screen }: { screen?: boolean }) => {
        const client = await call.client()
        const { id } = await findVps(client, name)
        const opened = await client.openConsole({ service_id: id, type: screen ? 'vnc' : 'serial' })
        if (screen || call.isJson) return call.show(opened, () => opened.url)
        await connect(call, opened.websocket_url)
      }),
    )
}

/** Ctrl-], as telnet has it. */
const ESCAPE = '\u001d'
/** Without a terminal it ends when the line has been quiet for so long after the input ended. */
const QUIET_MS = 2_000

/** Joins the terminal, or the pipes, with the serial line. */
async function connect(call: Call, url: string): Promise<void> {
  const { stdin, stdout, signal } = call.terminal
  const socket = new WebSocket(url)
  const line = createWebSocketStream(socket)
  const closed = new Promise<void>((resolve, reject) => {
    line.once('close', resolve)
    line.once('error', (error) =>
      reject(new RefusedError(`The console broke: ${error.message}`, exitCodes.unavailable)),
    )
  })
  const end = () => line.destroy()
  signal.addEventListener('abort', end, { once: true })
  let heardAt = performance.now()
  line.on('data', (bytes: Buffer) => {
    heardAt = performance.now()
    stdout.write(bytes)
  })
  try {
    await Promise.race([closed, new Promise((resolve) => socket.once('open', resolve))])
    if (stdin.isTTY) {
      call.say('Connected: Enter shows where it is, Ctrl-] ends this')
      await withRawInput(call.terminal, (text) => (text.includes(ESCAPE) ? end() : line.write(text)), closed)
      return
    }
    const typed = (async () => {
      for await (const bytes of stdin) line.write(bytes)
      heardAt = performance.now()
      while (performance.now() - heardAt < QUIET_MS) await sleep(100)
    })()
    await Promise.race([closed, typed])
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}
