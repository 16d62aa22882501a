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
  /** The signature of a key, or of a contract (ERC-1271). */
  signature: Hex
}

/** The fields that identify an authorization on its chain. */
export type Authorization = Pick<AuthorizedTransfer, 'token' | 'from' | 'nonce'>

/** The gas limit of a transaction, and its fees in wei per unit of gas. */
export interface Fees {
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A signed transaction, which anyone may send any number of times. */
export interface SignedTransaction {
  hash: Hash
  raw: Hex
}

/** The service's account that pays for gas on one chain. It holds nothing else, and never customers' money. */
export interface GasWallet {
  readonly address: Address
  /** The tokens whose holders can pay by signature, by address in lower case. */
  readonly domains: ReadonlyMap<string, TokenDomain>
  /** @returns the x402 reason for which the chain would refuse the transfer; undefined when it would not */
  verify(transfer: AuthorizedTransfer): Promise<string | undefined>
  /**
   * Whether the nonce was used, and the balance of the payer.
   * @param block asks for the state after this block, and fails when the node lacks it; by default after the newest one
   */
  payerOf(transfer: Authorization, block?: number): Promise<{ isUsed: boolean; balance: bigint }>
  /** Whether a transaction that uses the nonce waits for a block, as far as the node knows. */
  isWaiting(transfer: Authorization): Promise<boolean>
  /** The recent transaction that used or cancelled the nonce; undefined when none is found. */
  usedIn(transfer: Authorization): Promise<{ txHash: Hash; isCancelled: boolean } | undefined>
  /** The current cost of settling a transfer. */
  fees(transfer: AuthorizedTransfer): Promise<Fees>
  /** The balance for gas, in wei. */
  funds(): Promise<bigint>
  /** How many transfers it could send at current fees, in the worst case. */
  settlementsLeft(): Promise<number>
  /** How many of its transactions are in blocks. */
  minedCount(): Promise<number>
  sign(transfer: AuthorizedTransfer, fees: Fees, nonce: number): Promise<SignedTransaction>
  /** Sends it to every node. Only the chain shows the outcome: even when every node fails, it may have been sent. */
  broadcast(raw: Hex): Promise<void>
}

const TIMEOUT_MS = 5_000
/** The factor by which the fee may rise before a transaction has to wait; the fee paid is that of its block. */
const FEE_ROOM = 3n
/** More gas than an EIP-3009 transfer of any of the tokens takes, even to an address that holds none yet. */
const SETTLEMENT_GAS = 120_000n
/** The blocks per request for logs, and the number of such requests in the search for the use of a nonce. */
const LOOK_BACK = 500n
const LOOKS_BACK = 10
const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)
const authorizationCanceled = parseAbiItem(
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
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

    async payerOf({ token, from, nonce }, block) {
      const at = block === undefined ? {} : { blockNumber: BigInt(block) }
      const read = { abi: eip3009ABI, address: token, ...at } as const
      const [isUsed, balance] = await Promise.all([
        node.readContract({ ...read, functionName: 'authorizationState', args: [from, nonce] }),
        node.readContract({ ...read, functionName: 'balanceOf', args: [from] }),
      ])
      return { isUsed, balance }
    },

    async isWaiting({ token, from, nonce }) {
      const read = { abi: eip3009ABI, address: token, blockTag: 'pending' } as const
      // Many nodes do not know pending transactions, and some refuse the request.
      return node
        .readContract({ ...read, functionName: 'authorizationState', args: [from, nonce] })
        .catch(() => false)
    },

    async usedIn({ token, from, nonce }) {
      const args = { authorizer: from, nonce }
      let toBlock = await node.getBlockNumber({ cacheTime: 0 })
      for (let look = 0; look < LOOKS_BACK; look++) {
        const fromBlock = toBlock < LOOK_BACK ? 0n : toBlock - LOOK_BACK + 1n
        const range = { address: token, args, fromBlock, toBlock }
        const [[used], [cancelled]] = await Promise.all([
          node.getLogs({ ...range, event: authorizationUsed }),
          node.getLogs({ ...range, event: authorizationCanceled }),
        ])
        const found = used ?? cancelled
        if (found) return { txHash: found.transactionHash, isCancelled: used === undefined }
        if (fromBlock === 0n) return undefined
        toBlock = fromBlock - 1n
      }
      return undefined
    },

    async fees(transfer) {
      const [gas, fees] = await Promise.all([
        node.estimateGas({ account: account.address, to: transfer.token, data: callOf(transfer) }),
        node.estimateFeesPerGas(),
      ])
      return { gas: (gas * 5n) / 4n, ...fees, maxFeePerGas: fees.maxFeePerGas * FEE_ROOM }
    },

    funds: () => node.getBalance({ address: account.address }),

    async settlementsLeft() {
      const [funds, { maxFeePerGas }] = await Promise.all([
        node.getBalance({ address: account.address }),
        node.estimateFeesPerGas(),
      ])
      return Number(funds / (SETTLEMENT_GAS * maxFeePerGas * FEE_ROOM))
    },

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

/** The signer that verification needs. It only reads from the chain, and sends nothing. */
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

/** Encodes the call. Signatures of keys are passed as `v, r, s`, which every such token accepts; those of contracts as is. */
function callOf({ from, to, value, validAfter, validBefore, nonce, signature }: AuthorizedTransfer): Hex {
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const
  const call = { abi: eip3009ABI, functionName: 'transferWithAuthorization' } as const
  if (signature.length !== 132) return encodeFunctionData({ ...call, args: [...transfer, signature] })
  const { r, s, yParity } = parseSignature(signature)
  return encodeFunctionData({ ...call, args: [...transfer, 27 + yParity, r, s] })
}
