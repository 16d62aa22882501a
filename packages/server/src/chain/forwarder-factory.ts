import {
  type Address,
  encodeDeployData,
  getContractAddress,
  type Hex,
  hexToBytes,
  pad,
  toHex,
  zeroHash,
} from 'viem'
import { deterministicAddress } from './deterministic-deployer.ts'
import { Forwarder, ForwarderFactory } from './generated/contracts.ts'

/** The creation code with which the deterministic deployer puts the forwarder factory of a treasury on a chain. */
export function forwarderFactoryCode(treasury: Address): Hex {
  return encodeDeployData({ ...ForwarderFactory, args: [treasury] })
}

/** The address of the forwarder factory of a treasury, the same on every chain. */
export function forwarderFactoryAddress(treasury: Address): Address {
  return deterministicAddress(forwarderFactoryCode(treasury), zeroHash)
}

/** The forwarder that all clones of a factory delegate to: the first contract that the factory made. */
export function forwarderImplementation(factory: Address): Address {
  return getContractAddress({ from: factory, nonce: 1n })
}

/** The contracts that deposit addresses rely on, with their deployed code. */
export function forwarderContracts(treasury: Address): { name: string; address: Address; code: Hex }[] {
  const factory = forwarderFactoryAddress(treasury)
  const implementation = forwarderImplementation(factory)
  return [
    { name: 'forwarder factory', address: factory, code: deployedCode(ForwarderFactory, implementation) },
    { name: 'forwarder', address: implementation, code: deployedCode(Forwarder, treasury) },
  ]
}

/** The deployed code of a contract, with its only immutable, an address, filled in. */
function deployedCode(
  { deployed }: { deployed: { bytecode: Hex; immutableAt: readonly number[] } },
  immutable: Address,
): Hex {
  const code = hexToBytes(deployed.bytecode)
  for (const start of deployed.immutableAt) code.set(hexToBytes(pad(immutable)), start)
  return toHex(code)
}
