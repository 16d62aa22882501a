import { pipeline } from 'node:stream/promises'
import { createWebSocketStream } from 'ws'
import type { AddCommands } from '../add-command.ts'
import { findSandbox } from '../find.ts'
import { connectToSandbox } from '../sandbox-ssh.ts'

export const sshProxy: AddCommands = (program, act) => {
  program
    .command('ssh-proxy')
    .description(
      'carry an SSH connection to a sandbox on standard input and output: a ProxyCommand, see ssh-config',
    )
    .argument('<sandbox>')
    .action(
      act(async (call, name: string) => {
        const { terminal } = call
        const sandbox = await findSandbox(await call.service(), await call.client(), name)
        const socket = await connectToSandbox(terminal, sandbox)
        const stream = createWebSocketStream(socket)
        // Each end ends the other: ssh closes its side, or the server does.
        const ended = new Promise((resolve) => socket.once('close', resolve))
        const sent = pipeline(terminal.stdin, stream, { end: true }).catch(() => {})
        stream.on('data', (bytes: Buffer) => {
          if (!terminal.stdout.write(bytes)) {
            stream.pause()
            terminal.stdout.once('drain', () => stream.resume())
          }
        })
        stream.on('error', () => {})
        terminal.signal.addEventListener('abort', () => socket.terminate(), { once: true })
        await Promise.race([ended, sent.then(() => ended)])
        terminal.stdin.destroy()
      }),
    )
}
