import { beforeEach, describe, expect, test } from 'vitest'
import { chainOfNodes } from './chain-of-nodes.ts'
import {
  type Block,
  type ChainNode,
  type ChainPort,
  ChainUnavailableError,
  NodeLagsError,
} from './chain-port.ts'

interface Played {
  height: number
  finalized: number
  /** The seconds between two blocks. */
  pace: number
  branch: string
  fails?: Error
  asked: number
}

let clock: number
let played: Played[]
let port: ChainPort

beforeEach(() => open(2))

/** Opens a chain with this number of endpoints, which are at block 1,000 and agree. */
function open(count: number) {
  clock = 0
  played = Array.from({ length: count }, () => ({
    height: 1000,
    finalized: 900,
    pace: 1,
    branch: 'a',
    asked: 0,
  }))
  const nodes = played.map((how, index): ChainNode => {
    const blockOf = (number: number): Block | undefined =>
      number > how.height
        ? undefined
        : { number, hash: `0x${how.branch}${number}`, parentHash: '0x0', timestamp: number * how.pace }
    const answer = async <T>(value: () => T) => {
      how.asked++
      if (how.fails) throw how.fails
      return value()
    }
    return {
      name: `endpoint ${index}`,
      block: (which) =>
        answer(() => {
          if (typeof which === 'number') return blockOf(which)
          return blockOf(which === 'latest' ? how.height : how.finalized)
        }),
      transfers: () => answer(() => []),
      payee: async () => ({ hasCode: false, isRefused: false }),
      receipt: () => answer(() => undefined),
      code: () => answer(() => undefined),
      approves: () => answer(() => false),
    }
  })
  port = chainOfNodes({ chainId: 8453, network: 'base' }, nodes, () => clock)
}

const troubles = () => port.endpoints().map(({ trouble }) => trouble)
const down = new Error('connection refused')

describe('heights', () => {
  test.each([
    { heights: [1000], newest: 1000 },
    { heights: [1000, 998], newest: 998 },
    { heights: [1003, 1001, 1000], newest: 1001 },
    { heights: [1003, 1002, 1001, 1000], newest: 1001 },
  ])('default: of $heights, $newest is what most have', async ({ heights, newest }) => {
    open(heights.length)
    for (const [index, height] of heights.entries()) played[index]!.height = height
    expect(await port.newest()).toMatchObject({ number: newest })
  })

  test('behavior: of two that are far apart the one behind is frozen, by blocks or by time', async () => {
    played[0]!.height = 900
    expect(await port.newest()).toMatchObject({ number: 1000 })
    expect(troubles()).toEqual(['it is 100 blocks behind', undefined])
    expect(port.readers().map(({ name }) => name)).toEqual(['endpoint 1'])

    Object.assign(played[0]!, { height: 980 })
    for (const how of played) how.pace = 12
    expect(await port.newest()).toMatchObject({ number: 1000 })
    expect(troubles()).toEqual(['its newest block is 240 s older than that of another', undefined])
  })

  test('behavior: of three one that is far ahead is alone with that', async () => {
    open(3)
    played[1]!.height = 1_000_000
    expect(await port.newest()).toMatchObject({ number: 1000 })
    expect(troubles()[1]).toBe('it shows 999000 blocks that no other endpoint has')
  })

  test('behavior: a promise is the lower one of two, and none of one when there are two', async () => {
    played[0]!.finalized = 1000
    expect(await port.promised('finalized')).toBe(900)
    played[1]!.fails = down
    expect(await port.promised('finalized')).toBeUndefined()
    open(1)
    expect(await port.promised('finalized')).toBe(900)
  })

  test('behavior: a promise about two different blocks is none', async () => {
    played[0]!.branch = 'b'
    played[0]!.finalized = 950
    expect(await port.promised('finalized')).toBeUndefined()
    expect(troubles()[0]).toMatch('do not show one block 900 that is finalized')
    // One of the two contradicting endpoints is away, so there is no contradiction left to report.
    played[1]!.fails = down
    expect(await port.promised('finalized')).toBeUndefined()
    expect(troubles()).toEqual([undefined, 'connection refused'])
    delete played[1]!.fails
    clock += 120_000
    played[0]!.branch = 'a'
    expect(await port.promised('finalized')).toBe(900)
    expect(troubles()).toEqual([undefined, undefined])
  })
})

describe('an endpoint that fails', () => {
  test('behavior: it is left alone for a while, longer each time, and named', async () => {
    played[0]!.fails = down
    for (let second = 0; second < 600; second++) {
      await port.newest()
      clock += 1_000
    }
    // It is asked at 0, 5, 15, 35, 75 and 155 s, and then every 120 s.
    expect(played[0]!.asked).toBe(9)
    expect(played[1]!.asked).toBe(600)
    expect(troubles()).toEqual(['connection refused', undefined])
    delete played[0]!.fails
    clock += 120_000
    await port.newest()
    expect(troubles()).toEqual([undefined, undefined])
  })

  test('behavior: one that lags is not ill', async () => {
    played[0]!.fails = new NodeLagsError('it is at block 5')
    await port.newest()
    expect(troubles()).toEqual([undefined, undefined])
  })

  test('behavior: when all fail all are asked', async () => {
    for (const how of played) how.fails = down
    await expect(port.newest()).rejects.toThrow(ChainUnavailableError)
    delete played[1]!.fails
    expect(await port.newest()).toMatchObject({ number: 1000 })
  })

  test('behavior: everybody is asked in the order of the settings, and who does not answer has no answer', async () => {
    open(3)
    played[1]!.fails = down
    const answers = await port.askAll(async ({ name, block }) => ((await block(1)) ? name : undefined))
    expect(answers).toEqual([{ answer: 'endpoint 0' }, undefined, { answer: 'endpoint 2' }])
  })
})

test('behavior: each look reads from another endpoint first', async () => {
  const firsts: string[] = []
  for (let look = 0; look < 4; look++) {
    await port.newest()
    firsts.push(port.readers()[0]!.name)
  }
  expect(firsts).toEqual(['endpoint 1', 'endpoint 0', 'endpoint 1', 'endpoint 0'])
})
