import { isAgreed } from '../chain/agreement.ts'
import { type Chain, type ChainNode, NodeLagsError, type TransferLog } from '../chain/chain-port.ts'
import { type Deposit, isTransferOf } from './deposit-store.ts'

/** The report of one endpoint about a deposit. */
type Testimony =
  /** A receipt shows it, in the block where it was seen or in another one. */
  | { says: 'here' | 'elsewhere'; transfer: TransferLog }
  /** Another block has replaced its block, or its block is there and lacks it. */
  | { says: 'gone' }
  /** Its log is there but its receipt is not, as at a node that has pruned old receipts. */
  | { says: 'logged' }

/** The conclusion from the reports of all endpoints about a deposit. */
export type Verdict =
  /** Two endpoints, or the chain's only one, show it where it was seen, and more show it than do not. */
  | { kind: 'proven'; transfer: TransferLog }
  /** One endpoint shows it, and no other one answers. */
  | { kind: 'alone' }
  /** It is in another block now. */
  | { kind: 'moved'; transfer: TransferLog }
  /** Two endpoints, or the chain's only one, lack it, and more lack it than do not. */
  | { kind: 'gone' }
  /** The endpoints contradict each other, or too few of them answer. */
  | { kind: 'open'; contradicted: boolean }

/** Asks every endpoint of a chain for the receipt of a deposit. */
export async function testimonyOf({ port }: Chain, deposit: Deposit): Promise<Verdict> {
  const answers = (await port.askAll((node) => testify(node, deposit))).map((given) => given?.answer)
  const nodes = answers.length
  const count = (...what: Testimony['says'][]) =>
    answers.filter((answer) => answer && what.includes(answer.says)).length

  const [here, elsewhere, gone] = [count('here'), count('elsewhere'), count('gone')]
  const shown = answers.flatMap((answer) => (answer?.says === 'here' ? [answer.transfer] : []))
  if (isAgreed(here, elsewhere + gone, nodes)) return { kind: 'proven', transfer: shown[0]! }
  if (isAgreed(gone, here + elsewhere, nodes)) return { kind: 'gone' }
  const moved = answers.find((answer) => answer?.says === 'elsewhere')
  if (moved?.says === 'elsewhere' && here === 0) return { kind: 'moved', transfer: moved.transfer }
  if (here === 1 && gone + elsewhere + count('logged') === 0) return { kind: 'alone' }
  return { kind: 'open', contradicted: here + elsewhere > 0 && gone > 0 }
}

/** @throws NodeLagsError when the endpoint does not have the block of the deposit yet */
async function testify(node: ChainNode, deposit: Deposit): Promise<Testimony> {
  const receipt = await node.receipt(deposit.tx_hash)
  const transfer = receipt?.succeeded
    ? receipt.transfers.find((shown) => isTransferOf(deposit, shown))
    : undefined
  if (transfer) return { says: transfer.blockHash === deposit.block_hash ? 'here' : 'elsewhere', transfer }

  const { block_number: number } = deposit
  const block = await node.block(number)
  if (!block) throw new NodeLagsError(`it lacks block ${number}`)
  if (receipt || block.hash !== deposit.block_hash) return { says: 'gone' }
  const logs = await node.transfers(number, number, (to) => to === deposit.address)
  return { says: logs.some((shown) => isTransferOf(deposit, shown)) ? 'logged' : 'gone' }
}
