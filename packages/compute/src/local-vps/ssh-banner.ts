import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { SshAddress } from '../ports/vps-driver.ts'

/** Whether an SSH server says its banner at the address within `timeoutMs`. */
export function answersSsh({ host, port }: SshAddress, timeoutMs = 2_000): Promise<boolean> {
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

const EVERYWHERE = '0.0.0.0'

/** Where to listen for an address: there, or on all of this host's addresses when it is not one of them (NAT). */
export function listenAddress({ host, port }: SshAddress): SshAddress {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    addresses?.map(({ address }) => address),
  )
  const isOwn = host.startsWith('127.') || own.includes(host)
  return { host: isOwn ? host : EVERYWHERE, port }
}

/** Where this host itself reaches what listens at an address. */
export function localAddress({ host, port }: SshAddress): SshAddress {
  return { host: host === EVERYWHERE ? '127.0.0.1' : host, port }
}
