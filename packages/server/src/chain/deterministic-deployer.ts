import { type Address, concat, getContractAddress, type Hex } from 'viem'

/**
 * The keyless CREATE2 deployer that every chain here has at one address
 * (github.com/Arachnid/deterministic-deployment-proxy). It is called with salt and creation code, and so puts the
 * same code at the same address on every chain, whichever account calls it.
 */
export const deterministicDeployer: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** The address at which the deployer deploys this creation code. */
export function deterministicAddress(code: Hex, salt: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: deterministicDeployer, bytecode: code, salt })
}

/** The transaction that makes the deployer deploy this creation code. */
export function deterministicDeployment(code: Hex, salt: Hex): { to: Address; data: Hex } {
  return { to: deterministicDeployer, data: concat([salt, code]) }
}
