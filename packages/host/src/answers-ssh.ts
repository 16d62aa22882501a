import { connect } from 'node:net'

/** Whether an SSH server says its banner at the address within `timeoutMs`. */
export function answersSsh(
  { host, port }: { host: string; port: number },
  timeoutMs = 2_000,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  const settle = (answer: boolean) => {
    clearTimeout(timer)
    socket.destroy()
    resolve(answer)
  }
  const timer = setTimeout(() => settle(false), timeoutMs)
  socket.once('data', (data) => settle(data.toString('latin1').startsWith('SSH-')))
  socket.once('error', () => settle(false))
  socket.once('close', () => settle(false))
  return promise
}
