import { createHmac } from 'node:crypto'
import { type Address, bytesToHex, concat, getContractAddress, type Hex } from 'viem'
import { forwarderImplementation } from './forwarder-factory.ts'

/**
 * The salt of the deposit address of this counter: HMAC-SHA256 of the counter, as 8 bytes big-endian, under the
 * deposit secret. The secret alone enumerates all addresses; without it none can be linked to another.
 */
export function depositSalt(secret: Uint8Array, counter: bigint): Hex {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(counter)
  return bytesToHex(createHmac('sha256', secret).update(message).digest())
}

/**
 * The deposit address of this counter, the same on every chain and computed without asking one: the CREATE2 address of
 * a minimal proxy (EIP-1167) to the forwarder, with its checksum (EIP-55).
 * @param factory see `forwarderFactoryAddress`
 */
export function depositAddress(secret: Uint8Array, counter: bigint, factory: Address): Address {
  const clone = concat([
    '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
    forwarderImplementation(factory),
    '0x5af43d82803e903d91602b57fd5bf3',
  ])
  return getContractAddress({
    opcode: 'CREATE2',
    from: factory,
    bytecode: clone,
    salt: depositSalt(secret, counter),
  })
}
