import { type Address, type Hex, hashMessage, isAddressEqual, recoverMessageAddress } from 'viem'
import { isAgreed } from './agreement.ts'
import { type Chain, type ChainNode, ChainUnavailableError } from './chain-port.ts'

/** A wallet: a key on all chains, or a contract on one. */
export interface WalletOnChain {
  address: Address
  /** Null for a key. */
  chainId: number | null
}

/** The code prefix of an account whose key has delegated to a contract (EIP-7702); it still counts as a key. */
const DELEGATED = '0xef0100'

/**
 * The wallet that has signed a message (EIP-191): by its key, or as confirmed by the contract at that address (ERC-1271).
 * The word of a contract counts only when code alone controls the address: an account that a key can act for is proven
 * by that key.
 * @returns undefined when the wallet has not signed the message
 * @throws ChainUnavailableError when too few endpoints agree
 */
export async function walletThatSigned(
  chain: Chain,
  { address, message, signature }: { address: Address; message: string; signature: Hex },
): Promise<WalletOnChain | undefined> {
  const signer = await recoverMessageAddress({ message, signature }).catch(() => undefined)
  if (signer && isAddressEqual(signer, address)) return { address, chainId: null }
  const wallet = await walletAt(chain, address)
  if (wallet.chainId === null) return undefined
  const hash = hashMessage(message)
  return (await agreed(chain, (node) => node.approves(address, hash, signature))) ? wallet : undefined
}

/**
 * The wallet at an address on a chain.
 * @throws ChainUnavailableError when too few endpoints agree
 */
export async function walletAt(chain: Chain, address: Address): Promise<WalletOnChain> {
  const isContract = await agreed(chain, (node) => isContractAt(node, address))
  return { address, chainId: isContract ? chain.settings.chainId : null }
}

/**
 * The wallet that owns a payment: like `walletAt`, but a single endpoint suffices while no other answers, and a contract
 * that one of two does not show yet is believed. A wrong answer gives the money to no other wallet: the key and the
 * contract at one address have different accounts.
 * @throws ChainUnavailableError when no endpoint answers
 */
export async function payerAt({ port, settings }: Chain, address: Address): Promise<WalletOnChain> {
  const answers = (await port.askAll((node) => isContractAt(node, address))).filter(
    (said) => said !== undefined,
  )
  if (answers.length === 0) throw new ChainUnavailableError(`No endpoint of ${port.network} answers`)
  const yes = answers.filter(({ answer }) => answer).length
  return { address, chainId: yes * 2 >= answers.length ? settings.chainId : null }
}

async function isContractAt(node: ChainNode, address: Address): Promise<boolean> {
  const code = await node.code(address)
  return code !== undefined && !code.startsWith(DELEGATED)
}

async function agreed({ port }: Chain, question: (node: ChainNode) => Promise<boolean>): Promise<boolean> {
  const answers = await port.askAll(question)
  const yes = answers.filter((said) => said?.answer === true).length
  const no = answers.filter((said) => said?.answer === false).length
  if (isAgreed(yes, no, answers.length)) return true
  if (isAgreed(no, yes, answers.length)) return false
  throw new ChainUnavailableError(`Too few endpoints of ${port.network} say the same of a wallet`)
}
