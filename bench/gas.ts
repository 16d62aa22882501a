import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { depositAddress, depositSalt } from '../packages/server/src/chain/deposit-address.ts'
import { deterministicDeployment } from '../packages/server/src/chain/deterministic-deployer.ts'
import {
  forwarderFactoryAddress,
  forwarderFactoryCode,
} from '../packages/server/src/chain/forwarder-factory.ts'
import { openGasWallet } from '../packages/server/src/chain/gas-wallet.ts'
import { ForwarderFactory } from '../packages/server/src/chain/generated/contracts.ts'
import { startTestChains, testWallet } from '../packages/server/src/chain/testing.ts'

/*
 * The contracts' cost in gas, as a table of docs/measurements.md: on a local node, with the test tokens. The tokens
 * of issuers are proxies, and take some 5,000 to 10,000 more for each transfer, in every line alike.
 */

const BATCHES = [1, 5, 20, 50]
const AMOUNT = 5_000_000n
const transferAuthorized = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

const demo = await startTestChains()
try {
  const chain = demo.chains[0]!
  const [usdc] = chain.tokens
  const wallet = testWallet(chain, demo.demo.faucet_key)
  const factory = forwarderFactoryAddress(chain.treasury)
  const secret = randomBytes(32)
  let counter = 0n

  const usedBy = async (hash: Hex) => (await wallet.client.waitForTransactionReceipt({ hash })).gasUsed
  const newOwner = () => privateKeyToAccount(generatePrivateKey()).address
  const flush = async (counters: bigint[]) => {
    const items = counters.map((number) => ({ salt: depositSalt(secret, number), token: usdc!.address }))
    const data = encodeFunctionData({ ...ForwarderFactory, functionName: 'flush', args: [items] })
    return usedBy(await wallet.send({ to: factory, data }))
  }
  const pay = async (counters: bigint[]) => {
    for (const number of counters) await wallet.pay('USDC', depositAddress(secret, number, factory), AMOUNT)
  }

  // The treasury has some of it already, as it will nearly always.
  await wallet.pay('USDC', chain.treasury, AMOUNT)
  const transfer = await usedBy(await wallet.pay('USDC', newOwner(), AMOUNT))
  const rows: [what: string, each: bigint][] = [
    ['transfer of a token to a new holder, for comparison', transfer],
  ]
  const treasury = forwarderFactoryAddress(factory)
  rows.push([
    'factory, once on each network',
    await usedBy(
      await wallet.send(deterministicDeployment(forwarderFactoryCode(treasury), toHex(0, { size: 32 }))),
    ),
  ])
  for (const size of BATCHES) {
    const counters = Array.from({ length: size }, () => counter++)
    await pay(counters)
    rows.push([`first flush of an address, ${size} in a transaction`, (await flush(counters)) / BigInt(size)])
    await pay(counters)
    rows.push([`later flush of an address, ${size} in a transaction`, (await flush(counters)) / BigInt(size)])
  }

  const payer = privateKeyToAccount(generatePrivateKey())
  await wallet.pay('USDC', payer.address, AMOUNT)
  const { domains } = await openGasWallet(chain, demo.demo.faucet_key)
  const message = {
    from: payer.address,
    to: newOwner(),
    value: AMOUNT,
    validAfter: 0n,
    validBefore: 2n ** 40n,
    nonce: toHex(randomBytes(32)),
  }
  const signature = await payer.signTypedData({
    domain: {
      ...domains.get(usdc!.address.toLowerCase())!,
      chainId: chain.chainId,
      verifyingContract: usdc!.address,
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
    message,
  })
  const data = encodeFunctionData({
    abi: transferAuthorized,
    functionName: 'transferWithAuthorization',
    args: [
      ...(Object.values(message) as [Hex, Hex, bigint, bigint, bigint, Hex]),
      Number.parseInt(signature.slice(130), 16),
      `0x${signature.slice(2, 66)}`,
      `0x${signature.slice(66, 130)}`,
    ],
  })
  rows.push([
    'payment by signature (x402), to a new address',
    await usedBy(await wallet.send({ to: usdc!.address, data })),
  ])

  console.log('| gas for each | units | of a transfer |\n|---|---|---|')
  for (const [what, each] of rows)
    console.log(
      `| ${what} | ${each.toLocaleString('en-US')} | ${(Number(each) / Number(transfer)).toFixed(2)} |`,
    )
} finally {
  await demo.stop()
}
