import { domainSeparator, type Hex, type PublicClient, parseAbi } from 'viem'
import type { TokenSettings } from './chain-settings.ts'

/** The domain under which signatures for a token are made (EIP-712). */
export interface TokenDomain {
  name: string
  version: string
}

const abi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address, bytes32) view returns (bool)',
])

/** The versions to try for a token without a `version` function. */
const USUAL_VERSIONS = ['1', '2']
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'
const ZERO_NONCE = `0x${'00'.repeat(32)}` as Hex

/**
 * The domain of a token whose holders can transfer by signature (EIP-3009), verified: its separator has to equal the one
 * that the token itself reports.
 * @returns undefined when the token has no such transfers, or its domain cannot be verified
 */
export async function readTokenDomain(
  node: PublicClient,
  { address }: Pick<TokenSettings, 'address'>,
): Promise<TokenDomain | undefined> {
  const read = { abi, address } as const
  try {
    await node.readContract({ ...read, functionName: 'authorizationState', args: [ZERO_ADDRESS, ZERO_NONCE] })
    const name = await node.readContract({ ...read, functionName: 'name' })
    const separator = await node.readContract({ ...read, functionName: 'DOMAIN_SEPARATOR' })
    const said = await node.readContract({ ...read, functionName: 'version' }).catch(() => undefined)
    const chainId = await node.getChainId()
    const version = (said === undefined ? USUAL_VERSIONS : [said]).find(
      (candidate) =>
        domainSeparator({ domain: { name, version: candidate, chainId, verifyingContract: address } }) ===
        separator,
    )
    return version === undefined ? undefined : { name, version }
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}

/** Whether the contract refused the call, rather than no node answering. */
const isRefusal = (error: unknown) =>
  error instanceof Error && error.name === 'ContractFunctionExecutionError' && !isTransport(error)

function isTransport(error: Error): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (['HttpRequestError', 'TimeoutError', 'LimitExceededRpcError'].includes(cause.name)) return true
  }
  return false
}
