import { type Address, encodeDeployData, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { OwnedWallet } from '../chain/generated/contracts.ts'
import { minedReceipt } from '../chain/mined-receipt.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { viemChain } from '../chain/viem-chain.ts'
import { startTestService, type TestService } from '../process/testing.ts'

let chains: DemoChains
let service: TestService
/** The owner of the contract wallet, and where that is on the first chain. */
const owner = privateKeyToAccount(generatePrivateKey())
let contract: Address

beforeAll(async () => {
  chains = await startTestChains()
  service = await startTestService({
    chains: chains.chains.map((settings) => ({ settings, port: viemChain(settings) })),
    env: { COINRACK_RATE_LOGIN: '1000000/min' },
  })
  const deployer = testWallet(chains.chains[0]!, chains.demo.faucet_key)
  const hash = await deployer.client.sendTransaction({
    data: encodeDeployData({ ...OwnedWallet, args: [owner.address] }),
    chain: null,
  })
  contract = (await minedReceipt(deployer.client, hash)).contractAddress!
})
afterAll(async () => {
  await service?.close()
  await chains?.stop()
})

const challenge = async (address: Address, chainId?: number) =>
  (
    await service.ask('POST', '/x402/login/challenge', {
      body: { address, ...(chainId === undefined ? {} : { chain_id: chainId }) },
    })
  ).body.message as string
const logIn = (message: string, signature: Hex) =>
  service.ask('POST', '/x402/login', { body: { message, signature } })
const signIn = async (signer: typeof owner, address: Address = signer.address, chainId?: number) => {
  const message = await challenge(address, chainId)
  return logIn(message, await signer.signMessage({ message }))
}

test('default: the wallet of a key has one account, whichever chain its message names, without an address', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const ids = []
  for (const { chainId } of chains.chains) {
    const { status, body } = await signIn(wallet, wallet.address, chainId)
    expect(status).toBe(200)
    expect(body.account).toMatchObject({ email: null, email_verified: false })
    const { body: shown } = await service.ask('GET', '/account', { token: body.token })
    ids.push(shown.id)
  }
  expect(new Set(ids).size).toBe(1)
})

test('behavior: the message is one that wallets know, bound to host, chain, purpose and five minutes', async () => {
  const { host, origin } = new URL(service.services.config.publicUrl)
  const message = parseSiweMessage(await challenge(owner.address, chains.chains[1]!.chainId))
  expect(message).toMatchObject({
    domain: host,
    uri: `${origin}/x402/login`,
    address: owner.address,
    chainId: chains.chains[1]!.chainId,
    statement: 'Log in to your account. This moves no money.',
  })
  expect(message.expirationTime!.getTime() - service.clock.now().getTime()).toBe(300_000)
})

test('behavior: a challenge that nobody signs writes nothing', async () => {
  const rows = async () =>
    (
      await service.services.db.query<{ rows: bigint }>(
        `select (select count(*) from account) + (select count(*) from wallet) + (select count(*) from used_wallet_message) as rows`,
      )
    ).rows[0]!.rows
  const before = await rows()
  for (let time = 0; time < 20; time++) await challenge(owner.address)
  expect(await rows()).toBe(before)
})

test('error: a message is good once', async () => {
  const message = await challenge(owner.address)
  const signature = await owner.signMessage({ message })
  const both = await Promise.all([logIn(message, signature), logIn(message, signature)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  expect((await logIn(message, signature)).body.code).toBe('invalid_wallet_login')
})

test('error: a message is over after five minutes', async () => {
  const message = await challenge(owner.address)
  service.clock.advance(300_000)
  expect((await logIn(message, await owner.signMessage({ message }))).body.code).toBe('invalid_wallet_login')
})

test('error: a message that was changed, or made by another service, logs nobody in', async () => {
  const message = await challenge(owner.address)
  const other = privateKeyToAccount(generatePrivateKey())
  const { nonce, ...fields } = parseSiweMessage(message) as Parameters<typeof createSiweMessage>[0]
  const changed = [
    message.replace(owner.address, other.address),
    message.replace('moves no money', 'moves all money'),
    message.replace(/Chain ID: \d+/, 'Chain ID: 137'),
    message.replace(/Expiration Time: 2026/, 'Expiration Time: 2027'),
    createSiweMessage({ ...fields, nonce, domain: 'evil.example' }),
    createSiweMessage({ ...fields, nonce: 'f'.repeat(nonce.length) }),
    `${message}\n`,
  ]
  for (const text of changed) {
    expect(text).not.toBe(message)
    for (const signer of [owner, other]) {
      const { status } = await logIn(text, await signer.signMessage({ message: text }))
      expect(status, text).toBe(401)
    }
  }
})

test('error: the signature of another key logs nobody in', async () => {
  const message = await challenge(owner.address)
  const other = privateKeyToAccount(generatePrivateKey())
  expect((await logIn(message, await other.signMessage({ message }))).status).toBe(401)
  expect((await logIn(message, '0x00')).status).toBe(401)
})

test('error: a signed payment is never a log-in', async () => {
  const { address, chainId, tokens } = { address: owner.address, ...chains.chains[0]! }
  const signature = await owner.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: tokens[0]!.address },
    types: { TransferWithAuthorization: [{ name: 'from', type: 'address' }] },
    primaryType: 'TransferWithAuthorization',
    message: { from: address },
  })
  expect((await logIn(await challenge(address), signature)).status).toBe(401)
})

test('behavior: a contract wallet is asked on its chain, and its account is not that of its key', async () => {
  const { status, body } = await signIn(owner, contract)
  expect(status).toBe(200)
  const own = await signIn(owner)
  expect(own.body.account.id).not.toBe(body.account.id)
  expect((await signIn(owner, contract)).body.account.id).toBe(body.account.id)
  const { rows } = await service.services.db.query(
    'select address, chain_id from wallet where account_id = $1',
    [body.account.id],
  )
  expect(rows).toEqual([{ address: contract.toLowerCase(), chain_id: chains.chains[0]!.chainId }])
})

test('error: on a chain where there is no such contract, its address is nobody', async () => {
  expect((await signIn(owner, contract, chains.chains[1]!.chainId)).status).toBe(401)
})

test('error: a contract wallet refuses the signature of a stranger', async () => {
  expect((await signIn(privateKeyToAccount(generatePrivateKey()), contract)).status).toBe(401)
})

test('error: an account that handed its calls to a contract is still proven by its key alone', async () => {
  const victim = privateKeyToAccount(generatePrivateKey())
  const settings = chains.chains[0]!
  const { client } = testWallet(settings, chains.demo.faucet_key)
  // Its code sends all calls to a wallet that approves what `owner` signs.
  await client.request({
    method: 'anvil_setCode' as never,
    params: [victim.address, `0xef0100${contract.slice(2)}`] as never,
  })
  expect((await signIn(owner, victim.address)).status).toBe(401)
  expect((await signIn(victim)).status).toBe(200)
})

test('error: an unknown chain', async () => {
  const { status, body } = await service.ask('POST', '/x402/login/challenge', {
    body: { address: owner.address, chain_id: 5 },
  })
  expect([status, body.code]).toEqual([422, 'unknown_chain'])
})

test('behavior: the address stays null until a code proves one, and one that is taken is refused', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const { token, account } = (await signIn(wallet)).body
  const { mails } = service
  const codeFor = async (email: string) => {
    await service.ask('POST', '/auth/otp/request', { body: { email } })
    return /\b\d{6}\b/.exec(mails.filter((mail) => mail.to === email).at(-1)!.text)![0]
  }
  const set = (email: string, code: string) =>
    service.ask('POST', '/account/email', { token, body: { email, code } })

  expect((await set('wallet@rackmail.net', '000000')).body.code).toBe('invalid_code')
  const taken = (await service.ask('POST', '/auth/register', { body: { email: 'taken@rackmail.net' } })).body
  const refused = await set('taken@rackmail.net', await codeFor('taken@rackmail.net'))
  expect([refused.status, refused.body.code]).toEqual([409, 'email_taken'])

  const { status, body } = await set('wallet@rackmail.net', await codeFor('wallet@rackmail.net'))
  expect(status).toBe(200)
  expect(body.account).toMatchObject({ id: account.id, email: 'wallet@rackmail.net', email_verified: true })
  expect(account.id).not.toBe(taken.account.id)
  const again = await set('other@rackmail.net', await codeFor('other@rackmail.net'))
  expect([again.status, again.body.code]).toEqual([409, 'email_set'])

  const code = await codeFor('wallet@rackmail.net')
  const byMail = await service.ask('POST', '/auth/otp/verify', {
    body: { email: 'wallet@rackmail.net', code },
  })
  expect(byMail.body.account.id).toBe(account.id)
  expect((await signIn(wallet)).body.account.id).toBe(account.id)
})
