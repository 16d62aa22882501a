import { agreedHeight, isAgreed, lagOf } from './agreement.ts'
import {
  type Block,
  type ChainNode,
  type ChainPort,
  ChainUnavailableError,
  NodeLagsError,
} from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'

/** How long an endpoint is not asked after a failure: twice as long after each further failure. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 120_000

interface Watched {
  node: ChainNode
  failures: number
  /** The time before which it is not asked, in milliseconds of `now`. */
  pausedUntil: number
  /** Its last failure, for which it is not asked. */
  failure?: string | undefined
  /** Why its blocks are not relied on. */
  lag?: string | undefined
}

/**
 * Combines the answers of several endpoints of a chain. Each is only believed as far as another one agrees; one that
 * fails is not asked for a while, and one that is frozen or far ahead of the rest is not read from.
 * @param now the milliseconds of a monotonic clock
 */
export function chainOfNodes(
  { chainId, network }: Pick<ChainSettings, 'chainId' | 'network'>,
  nodes: ChainNode[],
  now: () => number = () => performance.now(),
): ChainPort {
  const all: Watched[] = nodes.map((node) => ({ node, failures: 0, pausedUntil: 0 }))
  let looks = 0
  /** Disagreements by the block tag that they are about. */
  const disagreements = new Map<string, string>()

  /** The endpoints that are not paused now; all of them when every one is paused. */
  const asked = (): Watched[] => {
    const present = all.filter(({ pausedUntil }) => pausedUntil <= now())
    return present.length > 0 ? present : all
  }

  async function ask<T>(watched: Watched, question: (node: ChainNode) => Promise<T>): Promise<T> {
    try {
      const answer = await question(watched.node)
      Object.assign(watched, { failures: 0, pausedUntil: 0, failure: undefined })
      return answer
    } catch (error) {
      // Failures of concurrent requests count as one.
      if (!(error instanceof NodeLagsError) && watched.pausedUntil <= now()) {
        const pause = Math.min(FIRST_PAUSE_MS * 2 ** watched.failures, LONGEST_PAUSE_MS)
        watched.failures++
        watched.pausedUntil = now() + pause
        watched.failure = (error as Error).message.split('\n')[0]!
      }
      throw error
    }
  }

  /** The answers of all endpoints that are asked and give one. */
  async function answersOf<T>(
    question: (node: ChainNode) => Promise<T | undefined>,
  ): Promise<{ from: Watched; answer: T }[]> {
    const answers = await Promise.all(
      asked().map((from) =>
        ask(from, question).then(
          (answer) => (answer === undefined ? [] : [{ from, answer }]),
          () => [],
        ),
      ),
    )
    return answers.flat()
  }

  /** The first answer that counts, or the last one that does not. */
  async function firstOf<T>(
    watched: Watched[],
    question: (node: ChainNode) => Promise<T>,
    counts: (answer: T) => boolean,
  ): Promise<T> {
    let last: { answer: T } | undefined
    for (const one of watched) {
      const given = await ask(one, question).then(
        (answer) => ({ answer }),
        () => undefined,
      )
      if (given && counts(given.answer)) return given.answer
      last = given ?? last
    }
    if (!last) throw unavailable()
    return last.answer
  }

  function unavailable(): ChainUnavailableError {
    const reasons = all.flatMap(({ node, failure }) => (failure ? [`${node.name}: ${failure}`] : []))
    return new ChainUnavailableError(`No endpoint of ${network} answers: ${reasons.join('; ')}`)
  }

  function readable(): Watched[] {
    const present = asked()
    const relied = present.filter(({ lag }) => lag === undefined)
    const well = relied.length > 0 ? relied : present
    const first = looks % well.length
    return [...well.slice(first), ...well.slice(0, first)]
  }

  const port: ChainPort = {
    chainId,
    network,

    async newest() {
      looks++
      const heads = await answersOf((node) => node.block('latest'))
      if (heads.length === 0) throw unavailable()
      const blocks = heads.map(({ answer }) => answer)
      for (const { from, answer } of heads) from.lag = lagOf(answer, blocks)
      const relied = heads.filter(({ from }) => from.lag === undefined).map(({ answer }) => answer)
      const height = agreedHeight(relied.map(({ number }) => number))
      return relied.find(({ number }) => number === height)!
    },

    async promised(tag) {
      const said = (await answersOf((node) => node.block(tag))).map(({ answer }) => answer)
      disagreements.delete(tag)
      if (nodes.length === 1) return said[0]?.number
      if (said.length < 2) return undefined
      const number = agreedHeight(said.map((block) => block.number))
      if (await isOneBlock(number, said)) return number
      disagreements.set(tag, `the endpoints do not show one block ${number} that is ${tag}`)
      return undefined
    },

    block: (number) =>
      firstOf(
        readable(),
        (node) => node.block(number),
        () => true,
      ),

    readers: () =>
      readable().map((watched) => ({
        name: watched.node.name,
        block: (which) => ask(watched, (node) => node.block(which)),
        transfers: (...range) => ask(watched, (node) => node.transfers(...range)),
        receipt: (txHash) => ask(watched, (node) => node.receipt(txHash)),
        payee: (...whom) => ask(watched, (node) => node.payee(...whom)),
        code: (address) => ask(watched, (node) => node.code(address)),
        approves: (address, hash, signature) =>
          ask(watched, (node) => node.approves(address, hash, signature)),
      })),

    askAll: (question) => {
      const present = asked()
      return Promise.all(
        all.map((watched) =>
          present.includes(watched)
            ? ask(watched, question).then(
                (answer) => ({ answer }),
                () => undefined,
              )
            : undefined,
        ),
      )
    },

    receipt: (txHash) =>
      firstOf(
        readable(),
        (node) => node.receipt(txHash),
        (receipt) => receipt !== undefined,
      ),

    endpoints: () => {
      const [disagreed] = disagreements.values()
      return all.map(({ node, failure, lag }) => ({ name: node.name, trouble: failure ?? lag ?? disagreed }))
    },

    ...(nodes[0]?.mine && { mine: () => ask(all[0]!, (node) => node.mine!()) }),
  }
  return port

  /** Whether the endpoints that promised this block or a later one agree on the block at this height. */
  async function isOneBlock(number: number, said: Block[]): Promise<boolean> {
    const hashes = said.filter((block) => block.number === number).map(({ hash }) => hash)
    if (hashes.length < said.length) {
      const shown = await answersOf((node) => node.block(number))
      hashes.splice(0, hashes.length, ...shown.map(({ answer }) => answer.hash))
    }
    return hashes.some((hash) => {
      const same = hashes.filter((other) => other === hash).length
      return isAgreed(same, hashes.length - same, nodes.length)
    })
  }
}
