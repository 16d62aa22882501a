import { type Address, encodeFunctionData, type PublicClient, parseAbi, RpcRequestError } from 'viem'

const abi = parseAbi([
  'function transfer(address to, uint256 value)',
  'function isBlackListed(address) view returns (bool)',
  'function isBlocked(address) view returns (bool)',
])

/**
 * Whether a token refuses to pay an address now. This simulates a transfer of zero: USDC and PYUSD refuse one to a
 * blocked address, and all three tokens refuse while they are paused. USDT pays blocked addresses, where the money is
 * stuck, so its block list is read; that function has another name on the networks to which USDT was bridged.
 */
export async function refusesToPay(
  node: PublicClient,
  token: Address,
  payer: Address,
  address: Address,
): Promise<boolean> {
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [address, 0n] })
  const isTried = await answered(node.call({ account: payer, to: token, data }))
  if (!isTried) return true
  for (const functionName of ['isBlackListed', 'isBlocked'] as const) {
    const asked = encodeFunctionData({ abi, functionName, args: [address] })
    const said = await answered(node.call({ to: token, data: asked }))
    if (said?.data && BigInt(said.data) === 1n) return true
  }
  return false
}

/** @returns undefined when the contract refused; @throws when the node did not answer */
async function answered<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    const { walk } = error as { walk?: (is: (cause: unknown) => boolean) => unknown }
    if (walk?.call(error, (cause) => cause instanceof RpcRequestError)) return undefined
    throw error
  }
}
