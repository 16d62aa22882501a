/*
 * A customer's program on the package as it is published: it runs unchanged in Node, Bun, Deno and a page, and says what it saw.
 */
import { CoinrackError, createClient, formatUsd, Sandbox } from '@coinrack/sdk'

/** @param {{ url: string, token: string }} service */
export async function play(service) {
  const coinrack = createClient(service)
  const before = await coinrack.getBalance()
  const refused = await coinrack.orderVps({ product: 'nothing', os_id: 1 }).catch((error) => error)
  const order = await coinrack.orderVps({ product: 'nano', os_id: 1 })
  const lines = []
  for await (const { amount } of coinrack.listTransactions.all({ limit: 1 })) lines.push(typeof amount)

  const sandbox = await Sandbox.create(service)
  const heard = []
  const { exit_code, stdout } = await sandbox.exec('echo one; echo two', {
    onStdout: (text) => heard.push(text),
  })
  await sandbox.files.write('a.txt', 'written')
  const text = await sandbox.files.text('a.txt')
  await sandbox.kill()
  return {
    balance: formatUsd(before.balance),
    refused: refused instanceof CoinrackError ? refused.code : String(refused),
    order: order.status,
    lines: lines.length > 1 && lines.every((type) => type === 'bigint'),
    exit_code,
    stdout,
    heard: heard.join(''),
    text,
  }
}
