import { randomBytes } from 'node:crypto'
import { basePath } from '@coinrack/contract/index.ts'
import { eip3009ABI } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { encodeFunctionData, type Hex, numberToHex, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import type { ChainSettings, TokenSymbol } from '../../chain/chain-settings.ts'
import { type DemoChains, fundOnDemoChains } from '../../chain/demo-chains.ts'
import { testWallet } from '../../chain/testing.ts'
import { type Customer, paymentsWorld } from '../testing.ts'

/** The service on these chains, listening, with a gas wallet of its own. */
export async function x402World({ chains, demo }: DemoChains, env: Record<string, string> = {}) {
  const key = generatePrivateKey()
  await fundOnDemoChains(chains, privateKeyToAddress(key))
  const world = await paymentsWorld(chains, env, key)
  const origin = await world.app.listen({ port: 0, host: '127.0.0.1' })
  const topupUrl = `${origin}${basePath}/balance/topup`

  return {
    ...world,
    origin,
    topupUrl,
    /** The key of the gas wallet. */
    key,
    gasWallet: privateKeyToAddress(key),
    databaseUrl: world.services.db.options.connectionString,

    /** A payer with tokens and without coins for gas. */
    async payer(tokens: { symbol: TokenSymbol; amount: bigint }[], chain: ChainSettings = chains[0]!) {
      const account = privateKeyToAccount(generatePrivateKey())
      const faucet = testWallet(chain, demo.faucet_key)
      for (const { symbol, amount } of tokens) await faucet.pay(symbol, account.address, amount)
      return account
    },
  }
}

export type X402World = Awaited<ReturnType<typeof x402World>>
export type Payer = Awaited<ReturnType<X402World['payer']>>

/** The stock client with a wallet, allowed to spend any amount, also of tokens that it does not know. */
export function stockClient(payer: Payer, networks = 'eip155:*' as const) {
  const client = new x402Client().register(networks, new ExactEvmScheme(payer))
  client.setSpendControls({ allowedAssets: true, maxAmountPerPayment: false })
  return client
}

/** Tops up like any program with the stock client. */
export async function topUp(
  world: X402World,
  customer: Customer,
  payer: Payer,
  body: object,
  ask: typeof fetch = fetch,
) {
  const pay = wrapFetchWithPayment(ask, stockClient(payer))
  const reply = await pay(world.topupUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const settled = reply.headers.get('payment-response')
  return {
    status: reply.status,
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any part of it
    body: (await reply.json()) as any,
    settled: settled === null ? undefined : decodePaymentResponseHeader(settled),
  }
}

/** The first way to pay in the terms of the service. */
export async function termsOf(customer: Customer, input: object) {
  const { status, body } = await customer.post('/balance/topup', { method: 'x402', ...input })
  if (status !== 402) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`)
  return body.accepts[0]
}

/** Changes to the payment that an honest client would sign. */
export interface Changes {
  accepted?: Record<string, unknown>
  authorization?: Record<string, unknown>
  signer?: Payer
}

/** A payment of these terms, signed by hand so that anything in it can be wrong. */
export async function signPayment(
  payer: Payer,
  // biome-ignore lint/suspicious/noExplicitAny: the terms are untyped JSON from the service
  terms: any,
  { accepted, authorization: changed, signer = payer }: Changes = {},
) {
  const now = Math.floor(Date.now() / 1000)
  const authorization = {
    from: payer.address,
    to: terms.payTo,
    value: terms.amount,
    validAfter: '0',
    validBefore: String(now + 300),
    nonce: numberToHex(BigInt(`0x${randomBytes(32).toString('hex')}`), { size: 32 }),
    ...changed,
  } as Record<'from' | 'to' | 'nonce', Hex> & Record<'value' | 'validAfter' | 'validBefore', string>
  const signature = await signer.signTypedData({
    domain: {
      ...terms.extra,
      chainId: Number(terms.network.split(':')[1]),
      verifyingContract: terms.asset,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  })
  return { x402Version: 2, accepted: { ...terms, ...accepted }, payload: { signature, authorization } }
}

export type SignedPayment = Awaited<ReturnType<typeof signPayment>>

/** Sends the signed transfer from another wallet, and waits for its block by default. */
export async function sendElsewhere(
  wallet: ReturnType<typeof testWallet>,
  { payload, accepted }: SignedPayment,
  { waits = true } = {},
) {
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
  const { r, s, yParity } = parseSignature(payload.signature)
  const transfer = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const
  const data = encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: [...transfer, 27 + yParity, r, s],
  })
  const transaction = { to: accepted.asset, data }
  if (waits) return wallet.send(transaction)
  return wallet.client.sendTransaction({ ...transaction, gas: 200_000n, chain: null })
}

/** Presents a payment by REST. */
export const present = (customer: Customer, amount: number, payment: unknown, headers = {}) =>
  customer.post('/balance/topup', { amount }, { 'payment-signature': encodePayment(payment), ...headers })

export const encodePayment = (payment: unknown) =>
  typeof payment === 'string' ? payment : Buffer.from(JSON.stringify(payment)).toString('base64')
