import { eip3009ABI } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  fallback,
  type Hash,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  parseAbiItem,
  parseSignature,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainSettings } from './chain-settings.ts'
import { readTokenDomain, type TokenDomain } from './token-domain.ts'

/** A transfer that the holder of a token signed, so that anyone may send it (EIP-3009). Amounts in its smallest unit. */
export interface AuthorizedTransfer {
  token: Address
  from: Address
  to: Address
  value: bigint
  /** Unix seconds. */
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
  /** Of a key, or of a contract (ERC-1271). */
  signature: Hex
}

/** What the chain takes for a transaction; wei per unit of gas. */
export interface Fees {
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A transaction that is ready to be sent, by anyone and as often as it takes. */
export interface SignedTransaction {
  hash: Hash
  raw: Hex
}

/** The account of the service that pays for gas on one chain. It holds nothing else, and never customers' money. */
export interface GasWallet {
  readonly address: Address
  /** The tokens whose holders can pay by signature, by address in lower case. */
  readonly domains: ReadonlyMap<string, TokenDomain>
  /** @returns why the chain would refuse it, in the words of x402; undefined when it would not */
  verify(transfer: AuthorizedTransfer): Promise<string | undefined>
  /** Whether the nonce was used, and what the payer has. */
  payerOf(
    transfer: Pick<AuthorizedTransfer, 'token' | 'from' | 'nonce'>,
  ): Promise<{ isUsed: boolean; balance: bigint }>
  /** Where the nonce was used lately; undefined when it was not. */
  usedIn(transfer: Pick<AuthorizedTransfer, 'token' | 'from' | 'nonce'>): Promise<Hash | undefined>
  /** What settling costs now. */
  fees(transfer: AuthorizedTransfer): Promise<Fees>
  /** What there is to pay it with, in wei. */
  funds(): Promise<bigint>
  /** How many of its transactions are in blocks. */
  minedCount(): Promise<number>
  sign(transfer: AuthorizedTransfer, fees: Fees, nonce: number): Promise<SignedTransaction>
  /** Hands it to every node. What comes of it, the chain alone says: no failure means that it was not sent. */
  broadcast(raw: Hex): Promise<void>
}

const TIMEOUT_MS = 5_000
/** How many times over the fee may rise before a transaction waits; what is paid is the fee of its block. */
const FEE_ROOM = 3n
/** Blocks that are looked through for the use of a nonce: what nodes answer for at once. */
const LOOK_BACK = 500n
const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

/** @throws when no node answers */
export async function openGasWallet(settings: ChainSettings, key: Hex): Promise<GasWallet> {
  const { chainId } = settings
  const account = privateKeyToAccount(key)
  const transports = settings.rpcUrls.map((url) => http(url, { timeout: TIMEOUT_MS, retryCount: 1 }))
  const node: PublicClient = createPublicClient({ transport: fallback(transports) })
  const nodes = transports.map((transport) => createPublicClient({ transport }))
  const scheme = new ExactEvmScheme(verifierOf(node, account.address))

  const domains = new Map<string, TokenDomain>()
  for (const token of settings.tokens) {
    const domain = await readTokenDomain(node, token)
    if (domain) domains.set(token.address.toLowerCase(), domain)
  }

  return {
    address: account.address,
    domains,

    async verify(transfer) {
      const { payload, requirements } = asX402(transfer, chainId, domains)
      const { isValid, invalidReason } = await scheme.verify(payload, requirements)
      return isValid ? undefined : (invalidReason ?? 'invalid')
    },

    async payerOf({ token, from, nonce }) {
      const read = { abi: eip3009ABI, address: token } as const
      const [isUsed, balance] = await Promise.all([
        node.readContract({ ...read, functionName: 'authorizationState', args: [from, nonce] }),
        node.readContract({ ...read, functionName: 'balanceOf', args: [from] }),
      ])
      return { isUsed, balance }
    },

    async usedIn({ token, from, nonce }) {
      const head = await node.getBlockNumber({ cacheTime: 0 })
      const [log] = await node.getLogs({
        address: token,
        event: authorizationUsed,
        args: { authorizer: from, nonce },
        fromBlock: head > LOOK_BACK ? head - LOOK_BACK : 0n,
        toBlock: head,
      })
      return log?.transactionHash
    },

    async fees(transfer) {
      const [gas, fees] = await Promise.all([
        node.estimateGas({ account: account.address, to: transfer.token, data: callOf(transfer) }),
        node.estimateFeesPerGas(),
      ])
      return { gas: (gas * 5n) / 4n, ...fees, maxFeePerGas: fees.maxFeePerGas * FEE_ROOM }
    },

    funds: () => node.getBalance({ address: account.address }),
    minedCount: () => node.getTransactionCount({ address: account.address }),

    async sign(transfer, fees, nonce) {
      const call = { to: transfer.token, data: callOf(transfer) }
      const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...call })
      return { raw, hash: keccak256(raw) }
    },

    async broadcast(raw) {
      await Promise.allSettled(nodes.map((one) => one.sendRawTransaction({ serializedTransaction: raw })))
    },
  }
}

/** What verifying asks of a chain. It sends nothing. */
function verifierOf(node: PublicClient, address: Address): ConstructorParameters<typeof ExactEvmScheme>[0] {
  const never = () => Promise.reject(new Error('Verifying sends nothing'))
  return {
    getAddresses: () => [address],
    readContract: (call) => node.readContract(call as Parameters<typeof node.readContract>[0]),
    verifyTypedData: (typed) => node.verifyTypedData(typed as Parameters<typeof node.verifyTypedData>[0]),
    getCode: (of) => node.getCode(of),
    writeContract: never,
    sendTransaction: never,
    waitForTransactionReceipt: never,
  }
}

function asX402(
  { token, signature, ...authorization }: AuthorizedTransfer,
  chainId: number,
  domains: GasWallet['domains'],
) {
  const requirements = {
    scheme: 'exact',
    network: `eip155:${chainId}` as const,
    asset: token,
    amount: String(authorization.value),
    payTo: authorization.to,
    maxTimeoutSeconds: 0,
    extra: { ...domains.get(token.toLowerCase()) },
  }
  const texts = Object.fromEntries(
    Object.entries(authorization).map(([field, value]) => [field, String(value)]),
  )
  const payload = { x402Version: 2, accepted: requirements, payload: { signature, authorization: texts } }
  return { payload, requirements }
}

/** Signatures of keys go as `v, r, s`, which every such token takes; those of contracts as they are. */
function callOf({ from, to, value, validAfter, validBefore, nonce, signature }: AuthorizedTransfer): Hex {
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const
  const call = { abi: eip3009ABI, functionName: 'transferWithAuthorization' } as const
  if (signature.length !== 132) return encodeFunctionData({ ...call, args: [...transfer, signature] })
  const { r, s, yParity } = parseSignature(signature)
  return encodeFunctionData({ ...call, args: [...transfer, 27 + yParity, r, s] })
}
