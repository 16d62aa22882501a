import { type Address, encodeDeployData, getContractAddress, type Hex, zeroHash } from 'viem'
import { deterministicAddress } from './deterministic-deployer.ts'
import { ForwarderFactory } from './generated/contracts.ts'

/** What puts the forwarder factory of a treasury on a chain, by the deterministic deployer. */
export function forwarderFactoryCode(treasury: Address): Hex {
  return encodeDeployData({ ...ForwarderFactory, args: [treasury] })
}

/** Where the forwarder factory of a treasury is, on every chain. */
export function forwarderFactoryAddress(treasury: Address): Address {
  return deterministicAddress(forwarderFactoryCode(treasury), zeroHash)
}

/** The forwarder that all clones of a factory delegate to: the first contract that the factory made. */
export function forwarderImplementation(factory: Address): Address {
  return getContractAddress({ from: factory, nonce: 1n })
}
