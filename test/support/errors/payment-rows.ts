import { setTimeout as sleep } from 'node:timers/promises'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { testWallet } from '@coinrack/server/chain/testing.ts'
import { usd } from '@coinrack/server/payments/testing.ts'
import {
  encodePayment,
  present,
  type SignedPayment,
  sendElsewhere,
  signPayment,
  termsOf,
  type X402World,
} from '@coinrack/server/payments/x402/testing.ts'
import type { Hex } from 'viem'
import type { CodeOfPayments } from './codes-of-payments.ts'
import type { Row } from './walk.ts'

const NANO = { product: 'nano', os_id: 1 }

/** Payments within the call, on real nodes. */
export function paymentRows(world: X402World, demo: DemoChains) {
  const chain = demo.chains[0]!
  const wallet = () => testWallet(chain, demo.demo.faucet_key)
  const { gasWallet } = world.services.chains[0]!
  const real = { ...gasWallet! }

  async function start(amount = 20) {
    const customer = await world.customer()
    const payer = await world.payer([{ symbol: 'USDC', amount: usd(amount) }])
    const sign = async (dollars = 3, changes = {}) =>
      signPayment(payer, await termsOf(customer, { amount: dollars }), changes)
    const take = (tool: string, input: Record<string, unknown>) =>
      world.tool(tool, input, { token: customer.token })
    const pay = async (payment?: unknown) => present(customer, 3, payment ?? (await sign()))
    return { customer, payer, sign, take, pay }
  }
  /** A payment that is signed wrongly in one thing, and then as the refusal says. */
  const signedWrong =
    (changes: () => object): Row =>
    async () => {
      const { sign, pay, take } = await start()
      return { call: async () => pay(await sign(3, changes())), take, further: () => pay() }
    }
  const seconds = (from: number) => String(Math.floor(Date.now() / 1000) + from)
  const node = (method: string, params: unknown[]) =>
    wallet().client.request({ method: method as never, params: params as never })
  async function withoutGas() {
    const before = await wallet().client.getBalance({ address: world.gasWallet })
    await node('anvil_setBalance', [world.gasWallet, '0x0'])
    return () => node('anvil_setBalance', [world.gasWallet, `0x${before.toString(16)}`])
  }
  const send = (payment: SignedPayment, options = {}) => sendElsewhere(wallet(), payment, options)

  return {
    payment_malformed: async () => {
      const { pay, take } = await start()
      return { call: () => pay('no payment'), take, further: () => pay() }
    },
    payment_required: async () => {
      const { customer, take, pay } = await start()
      const ask = () => customer.post('/balance/topup', { amount: 3, method: 'x402' })
      return { call: ask, take, further: () => pay() }
    },
    payment_not_accepted: signedWrong(() => ({ authorization: { value: '2999999' } })),
    payment_expired: signedWrong(() => ({ authorization: { validBefore: seconds(-1) } })),
    payment_not_yet_valid: signedWrong(() => ({ authorization: { validAfter: seconds(600) } })),
    payment_signature_invalid: async () => {
      const { sign, pay, take } = await start()
      const signer = await world.payer([])
      return { call: async () => pay(await sign(3, { signer })), take, further: () => pay() }
    },
    payment_nonce_used: async () => {
      const [first, { payer, customer, pay, take }] = [await start(), await start()]
      const used = await signPayment(payer, await termsOf(first.customer, { amount: 3 }))
      await first.pay(used)
      const { nonce } = used.payload.authorization
      const again = await signPayment(payer, await termsOf(customer, { amount: 3 }), {
        authorization: { nonce },
      })
      return { call: () => pay(again), take, further: () => pay() }
    },
    payment_insufficient_funds: async () => {
      const { payer, pay, take } = await start(1)
      return {
        call: () => pay(),
        take,
        fill: { topup_balance: { amount: 5 } },
        meanwhile: () => wallet().pay('USDC', payer.address, usd(10)),
      }
    },
    payment_failed: async () => {
      const { payer, sign, pay, take } = await start()
      const payment = await sign()
      const { nonce } = payment.payload.authorization
      const other = { ...payment.accepted, payTo: `0x${'44'.repeat(20)}` }
      const away = await signPayment(payer, other, { authorization: { nonce } })
      gasWallet!.broadcast = async (raw) => {
        await send(away)
        await real.broadcast(raw)
      }
      return {
        call: () => pay(payment),
        take,
        meanwhile: () => {
          gasWallet!.broadcast = real.broadcast
        },
        further: () => pay(),
      }
    },
    payment_arrived: async () => {
      const { customer, sign, take, pay } = await start()
      const payment = await sign()
      await send(payment)
      return {
        call: () => present(customer, 5, payment),
        take,
        meanwhile: () => world.settle(),
        further: () => pay(payment),
      }
    },
    payment_pending: async () => {
      const { sign, take, pay } = await start()
      const payment = await sign()
      await node('evm_setAutomine', [false])
      await send(payment, { waits: false })
      const withGas = await withoutGas()
      return {
        call: () => pay(payment),
        take: async (tool, input) => take(tool, { ...input, ...('timeout' in input && { timeout: 1 }) }),
        meanwhile: async () => {
          await withGas()
          await node('evm_setAutomine', [true])
          await node('evm_mine', [])
          await world.settle()
        },
      }
    },
    payment_used: async () => {
      const { customer, payer, take } = await start()
      const { body } = await customer.post('/orders', NANO)
      const payment = await signPayment(payer, body.accepts[0])
      const order = (given: object) =>
        customer.post('/orders', given, { 'payment-signature': encodePayment(payment) })
      await order(NANO)
      return { call: () => order({ ...NANO, hostname: 'other' }), take, further: () => order(NANO) }
    },
    payment_seen: async () => {
      const { customer, take } = await start()
      const { invoice } = (await customer.post('/balance/topup', { amount: 5 })).body
      await wallet().pay('USDC', invoice.payment_options[0].address, usd(1))
      await world.look()
      return {
        call: () => customer.post(`/invoices/${invoice.id}/cancel`),
        take,
        meanwhile: () => world.settle(),
        further: () => customer.get(`/invoices/${invoice.id}`),
      }
    },
    payment_method_unavailable: async () => {
      const { customer, take } = await start()
      const ask = (token: string) => customer.post('/balance/topup', { amount: 3, method: 'x402', token })
      return {
        call: () => ask('USDT'),
        take,
        fill: { topup_balance: { amount: 3 } },
        further: async () => customer.get('/invoices'),
      }
    },
    settlement_unavailable: async () => {
      const { sign, pay, take } = await start()
      const payment = await sign()
      const withGas = await withoutGas()
      return { call: () => pay(payment), take, meanwhile: withGas }
    },
    account_owes: async () => {
      const { customer, take } = await start()
      await world.post(customer.accountId, [
        { from: 'customer.owed' as never, to: 'house.adjustments' as never, amount: usd(3) },
      ])
      const { invoice } = (await customer.post('/balance/topup', { amount: 10 })).body
      await customer.post(`/invoices/${invoice.id}/cancel`)
      return {
        call: () => world.tool('create_sandbox', {}, { token: customer.token }),
        take,
        fill: { topup_balance: { amount: 10 } },
        meanwhile: async () => {
          await wallet().pay('USDC', (await customer.address()) as Hex, usd(10))
          await world.settle()
        },
      }
    },
    receipt_not_ready: async () => {
      const { customer, take } = await start()
      const { invoice } = (await customer.post('/balance/topup', { amount: 5 })).body
      return {
        call: () => customer.get(`/invoices/${invoice.id}/receipt`),
        take,
        meanwhile: async () => {
          await wallet().pay('USDC', invoice.payment_options[0].address, usd(5))
          await world.settle()
          await sleep(10)
        },
      }
    },
  } satisfies Partial<Record<CodeOfPayments, Row>>
}
