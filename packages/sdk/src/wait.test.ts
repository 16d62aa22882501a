import { expect, test } from 'vitest'
import type { Client } from './client.ts'
import { NeverError } from './never-error.ts'
import { waitForApproval } from './wait-for-approval.ts'
import { waitForInvoice } from './wait-for-invoice.ts'
import { waitForSsh } from './wait-for-ssh.ts'

/** A client whose one method answers these in turn, and notes what it was asked. */
function answering<N extends 'getInvoice' | 'getVpsStatus' | 'getApproval'>(name: N, answers: object[]) {
  const left = [...answers]
  const asked: unknown[] = []
  const method = async (input: unknown) => {
    asked.push(input)
    return left.shift()
  }
  return { client: { [name]: method } as unknown as Pick<Client, N>, asked }
}

test('default: an invoice is polled until it is paid, and each poll is told', async () => {
  const { client, asked } = answering('getInvoice', [
    { status: 'unpaid' },
    { status: 'confirming' },
    { status: 'paid' },
  ])
  const told: string[] = []
  const invoice = await waitForInvoice(client, 'inv_1', { onChange: ({ status }) => told.push(status) })
  expect(invoice.status).toBe('paid')
  expect(told).toEqual(['unpaid', 'confirming', 'paid'])
  expect(asked[0]).toEqual({ invoice_id: 'inv_1', wait: 'paid', timeout: 50 })
})

test.each(['expired', 'cancelled'])('error: an invoice that is %s will never be paid', async (status) => {
  const { client } = answering('getInvoice', [{ status }])
  await expect(waitForInvoice(client, 'inv_1')).rejects.toThrow(NeverError)
})

test('default: a VPS is polled until SSH answers', async () => {
  const { client, asked } = answering('getVpsStatus', [
    { status: 'provisioning', ssh_ready: false },
    { status: 'active', ssh_ready: true, root_password: 'secret' },
  ])
  expect((await waitForSsh(client, 'vps_1')).root_password).toBe('secret')
  expect(asked).toEqual(Array(2).fill({ service_id: 'vps_1', wait: 'ssh_ready', timeout: 50, reveal: true }))
})

test('error: a VPS that failed says why', async () => {
  const { client } = answering('getVpsStatus', [
    { status: 'failed', ssh_ready: false, failure_reason: 'no disk' },
  ])
  await expect(waitForSsh(client, 'vps_1')).rejects.toThrow('VPS vps_1 is failed: no disk')
})

test('default: an approval is polled until the owner has decided', async () => {
  const { client, asked } = answering('getApproval', [{ status: 'pending' }, { status: 'approved' }])
  const told: string[] = []
  const { status } = await waitForApproval(client, 'apr_1', { onChange: (seen) => told.push(seen.status) })
  expect([status, told]).toEqual(['approved', ['pending', 'approved']])
  expect(asked[0]).toEqual({ approval_id: 'apr_1', wait: 'decided', timeout: 50 })
})

test.each(['denied', 'expired'])('error: an approval that is %s never comes', async (status) => {
  const { client } = answering('getApproval', [{ status }])
  await expect(waitForApproval(client, 'apr_1')).rejects.toThrow(`apr_1 is ${status}`)
})
