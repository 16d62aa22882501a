import { readdir, readFile } from 'node:fs/promises'
import { type Client, createClient } from '@coinrack/sdk/index.ts'
import type { RunningService } from './running-service.ts'

let customers = 0

/** A new customer of a running service, with a balance that its operator gave. */
export async function newCustomer(service: RunningService, usd: string): Promise<Client & { token: string }> {
  customers++
  const email = `e2e-${process.pid}-${customers}@rackmail.net`
  const { token } = await createClient({ url: service.origin }).registerAccount({ email })
  await service.operator('credit', email, usd, '--reason', 'test')
  return Object.assign(createClient({ url: service.origin, token }), { token })
}

/** Processes of QEMU that run this machine. */
export const guestsOf = async (serviceId: string): Promise<number> => (await commandLinesOf(serviceId)).length

/** Whether the machine runs on from the state of a template. */
export const isClone = async (serviceId: string): Promise<boolean> =>
  (await commandLinesOf(serviceId)).some((line) => line.includes('\0-incoming\0'))

async function commandLinesOf(serviceId: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => /^[^\0]*qemu-system/.test(line) && line.includes(serviceId))
}

/** How often the account was charged, and what is still held. */
export async function chargesOf(customer: Client): Promise<{ charges: number; held: bigint }> {
  const { items } = await customer.listTransactions({ limit: 100 })
  const { held } = await customer.getBalance()
  return { charges: items.filter(({ kind }) => kind === 'charge').length, held }
}
