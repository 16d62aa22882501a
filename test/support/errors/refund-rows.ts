import { randomBytes } from 'node:crypto'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { deterministicDeployer } from '@coinrack/server/chain/deterministic-deployer.ts'
import { TestUSDC } from '@coinrack/server/chain/generated/contracts.ts'
import { testWallet } from '@coinrack/server/chain/testing.ts'
import { usd } from '@coinrack/server/payments/testing.ts'
import type { X402World } from '@coinrack/server/payments/x402/testing.ts'
import { encodeFunctionData, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { CodeOfPayments } from './codes-of-payments.ts'
import type { Answer, Row } from './walk.ts'

interface Wanted {
  amount: number | string
  network: string
  token: string
  address: string
}

/** Refunds of what came in, on real nodes. */
export function refundRows(world: X402World, demo: DemoChains) {
  const chain = demo.chains[0]!
  const wallet = () => testWallet(chain, demo.demo.faucet_key)
  const usdc = chain.tokens.find(({ symbol }) => symbol === 'USDC')!.address
  const post = (token: string, path: string, body: object = {}) => world.ask('POST', path, { token, body })

  /** A customer with 10 USDC that are final, who has proven the mailbox. */
  async function start() {
    const customer = await world.customer()
    const email = (await customer.get('/account')).body.email as string
    let { token } = customer
    const logIn = async () => {
      await world.ask('POST', '/auth/otp/request', { body: { email } })
      const [code] = /\b\d{6}\b/.exec(world.mails.at(-1)!.text)!
      ;({ token } = (await world.ask('POST', '/auth/otp/verify', { body: { email, code } })).body)
    }
    await wallet().pay('USDC', await customer.address(), usd(10))
    await world.settle()
    await wallet().client.request({ method: 'anvil_mine' as never, params: ['0x60'] as never })
    await world.settle()
    await logIn()
    const mine = privateKeyToAccount(generatePrivateKey())
    const wanted = (change: Partial<Wanted> = {}): Wanted => ({
      ...{ amount: 4, network: 'base', token: 'USDC', address: mine.address },
      ...change,
    })
    const terms = (want: Wanted) =>
      world.ask('GET', `/refunds/terms?${new URLSearchParams(want as never)}`, { token })
    async function sign(want = wanted(), by = mine) {
      const { body } = await terms(want)
      return { ...want, expires_at: body.expires_at, signature: await by.signTypedData(body.typed_data) }
    }
    /** The terms of the last step that gave some, signed. */
    let offered: object | undefined
    const take = async (tool: string, input: Record<string, unknown>): Promise<Answer> => {
      const answer = await world.tool(tool, input, { token })
      if (tool === 'get_refund_terms' && !answer.isError)
        offered = {
          ...input,
          expires_at: answer.body.expires_at,
          signature: await mine.signTypedData(answer.body.typed_data),
        }
      return answer
    }
    return {
      ...{ mine, email, wanted, sign, take, logIn },
      request: (signed: object) => post(token, '/refunds', signed),
      requestAsOffered: () => post(token, '/refunds', offered!),
      cancel: (id: string) => post(token, `/refunds/${id}/cancel`),
      child: async () => (await post(token, '/tokens', {})).body.token as string,
      account: customer,
      say: (who: string, signed: object) => post(who, '/refunds', signed),
    }
  }
  /** A refund to an address that cannot have it, and then to one that can. */
  const toAddress =
    (address: () => string): Row =>
    async () => {
      const { wanted, sign, take, request } = await start()
      const signature = toHex(randomBytes(65))
      return {
        call: async () => request({ ...(await sign(wanted({ address: address() }))), signature }),
        take,
        further: async () => request(await sign()),
      }
    }

  return {
    proof_too_old: async () => {
      const { sign, take, request, logIn, email } = await start()
      world.clock.advance(600_001)
      const signed = await sign()
      return {
        call: () => request(signed),
        take,
        fill: { request_login_code: { email } },
        meanwhile: logIn,
      }
    },
    refund_open: async () => {
      const { wanted, sign, take, request, cancel } = await start()
      const { body } = await request(await sign())
      return {
        call: async () => request(await sign(wanted({ amount: 2 }))),
        take,
        meanwhile: () => cancel(body.id),
      }
    },
    refund_repeated: async () => {
      const { sign, take, request, cancel, requestAsOffered } = await start()
      const signed = await sign()
      const { body } = await request(signed)
      await cancel(body.id)
      world.clock.advance(1000)
      return { call: () => request(signed), take, further: requestAsOffered }
    },
    refund_closed: async () => {
      const { sign, take, request, cancel, account } = await start()
      const { body } = await request(await sign())
      await world.services.db.query("update refund set status = 'rejected', reason = 'No' where id = $1", [
        body.id,
      ])
      return {
        call: () => cancel(body.id),
        take,
        further: () => account.get(`/refunds/${body.id}`),
      }
    },
    refund_too_much: async () => {
      const { wanted, sign, take, request, requestAsOffered } = await start()
      return {
        call: async () => request(await sign(wanted({ amount: 11 }))),
        take,
        further: requestAsOffered,
      }
    },
    refund_other_chain: async () => {
      const { wanted, sign, take, request } = await start()
      return {
        call: async () => request(await sign(wanted({ network: 'polygon' }))),
        take,
        further: async () => request(await sign()),
      }
    },
    refund_signature_invalid: async () => {
      const { sign, take, request, requestAsOffered } = await start()
      const signed = { ...(await sign()), signature: toHex(randomBytes(65)) }
      return { call: () => request(signed), take, further: requestAsOffered }
    },
    refund_signature_expired: async () => {
      const { sign, take, request, logIn, requestAsOffered } = await start()
      const signed = await sign()
      world.clock.advance(30 * 60_000)
      await logIn()
      return { call: () => request(signed), take, further: requestAsOffered }
    },
    refund_to_token: toAddress(() => usdc),
    refund_to_contract: toAddress(() => deterministicDeployer),
    refund_address_blocked: async () => {
      const { sign, take, request, mine } = await start()
      const list = (functionName: 'blacklist' | 'unBlacklist') =>
        wallet().send({
          to: usdc,
          data: encodeFunctionData({ ...TestUSDC, functionName, args: [mine.address] } as never),
        })
      await list('blacklist')
      const { wanted } = await start()
      return {
        call: async () => request(await sign()),
        take,
        // Another address, as it says.
        further: async () => {
          const other = privateKeyToAccount(generatePrivateKey())
          return request(await sign(wanted({ address: other.address }), other))
        },
      }
    },
  } satisfies Partial<Record<CodeOfPayments, Row>>
}
