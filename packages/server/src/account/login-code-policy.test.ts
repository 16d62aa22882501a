import { describe, expect, test } from 'vitest'
import {
  CODE_LIFETIME_MS,
  codesToTry,
  judgeRequest,
  type LiveCode,
  WRONG_PER_DAY,
} from './login-code-policy.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const SHORT_CHANCE = 1e-6
const LONG_CHANCE = 2 ** -60

describe('judgeRequest', () => {
  const now = new Date('2026-01-31T12:00:00Z')
  const ago = (...minutes: number[]) => minutes.map((each) => new Date(now.getTime() - each * MINUTE_MS))

  test.each([
    ['the first', [], 0, { send: 'short' }],
    ['the fifth in an hour', ago(1, 2, 3, 4), 0, { send: 'short' }],
    ['the sixth in an hour, two minutes after the last', ago(2, 3, 4, 5, 6), 0, { waitMs: 8 * MINUTE_MS }],
    ['the sixth in an hour, ten minutes after the last', ago(10, 11, 12, 13, 14), 0, { send: 'long' }],
    ['the sixth, of which one is older than an hour', ago(1, 2, 3, 4, 60), 0, { send: 'short' }],
    [
      'the twentieth in a day',
      ago(...Array.from({ length: 19 }, (_, i) => 70 * (i + 1))),
      0,
      { send: 'short' },
    ],
    ['the one after that', ago(...Array.from({ length: 20 }, (_, i) => 70 * (i + 1))), 0, { send: 'long' }],
    ['after nineteen wrong tries', ago(5), 19, { send: 'short' }],
    ['after twenty wrong tries', ago(5), 20, { waitMs: 5 * MINUTE_MS }],
    ['after twenty wrong tries, without a code before', [], 20, { send: 'long' }],
    ['after one that was sent before the clock was set back', ago(-60), 20, { send: 'long' }],
  ])('default: %s', (_what, sent, wrongTries, judged) => {
    expect(judgeRequest({ sent, wrongTries }, now)).toEqual(judged)
  })
})

describe('codesToTry', () => {
  const code = (id: number, change: Partial<LiveCode> = {}): LiveCode => ({
    ...{ id: BigInt(id), isLong: false, isOwn: false, tries: 0, ownTries: 0, clientTries: 0 },
    ...change,
  })
  const tried = (codes: LiveCode[], wrongTries = 0) =>
    codesToTry(codes, wrongTries).map(({ code: { id }, as }) => `${id} ${as}`)

  test('default: strangers try the newest three, five times in all', () => {
    expect(tried([code(4), code(3), code(2), code(1)])).toEqual(['4 stranger', '3 stranger', '2 stranger'])
    expect(tried([code(2, { tries: 4 }), code(1, { tries: 5 })])).toEqual(['2 stranger'])
  })

  test('default: the client that asked has five tries of its own, whatever strangers did and asked for', () => {
    const own = code(1, { isOwn: true, tries: 5, ownTries: 4 })
    expect(tried([code(4), code(3), code(2), own], WRONG_PER_DAY)).toEqual(['1 own'])
    expect(tried([code(1, { isOwn: true, ownTries: 5 })])).toEqual([])
  })

  test('behavior: of several that one client asked for the newest has tries of its own', () => {
    const [newer, older] = [code(2, { isOwn: true }), code(1, { isOwn: true })]
    expect(tried([newer, older])).toEqual(['2 own', '1 stranger'])
    expect(tried([newer, older], WRONG_PER_DAY)).toEqual(['2 own'])
  })

  test('default: one of twelve characters can be tried five times by each client, by whomever it was asked for', () => {
    expect(tried([code(1, { isLong: true, tries: 900 })], WRONG_PER_DAY)).toEqual(['1 client'])
    expect(tried([code(1, { isLong: true, isOwn: true, clientTries: 5 })])).toEqual([])
  })
})

/** A mailbox with the requests and tries of clients, as the handlers make them, limited by the policy alone. */
function mailbox() {
  interface Sent {
    id: bigint
    at: number
    client: string
    isLong: boolean
    tries: number
    ownTries: number
    byClient: Map<string, number>
  }
  const sent: Sent[] = []
  const wrong: number[] = []
  let ids = 0n
  /** That a guess of each try was right, summed up; by the minute of the try. */
  const chances: { at: number; chance: number }[] = []

  const liveFor = (client: string, now: number) =>
    sent
      .slice(-12)
      .filter(({ at }) => now - at < CODE_LIFETIME_MS)
      .toReversed()
      .map((code) => ({
        ...{ id: code.id, isLong: code.isLong, isOwn: code.client === client, tries: code.tries },
        ...{ ownTries: code.ownTries, clientTries: code.byClient.get(client) ?? 0, code },
      }))
  return {
    request(client: string, now: number): boolean {
      while (now - wrong[0]! >= DAY_MS) wrong.shift()
      const history = { sent: sent.map(({ at }) => new Date(at)), wrongTries: wrong.length }
      const judged = judgeRequest(history, new Date(now))
      if ('waitMs' in judged) return false
      const isLong = judged.send === 'long'
      while (sent.length > 0 && now - sent[0]!.at >= DAY_MS) sent.shift()
      sent.push({ id: ++ids, at: now, client, isLong, tries: 0, ownTries: 0, byClient: new Map() })
      return true
    },
    /** @param right the code that is typed; a guess without @returns whether it logs in */
    try(client: string, now: number, right?: bigint): boolean {
      while (now - wrong[0]! >= DAY_MS) wrong.shift()
      const tried = codesToTry(liveFor(client, now), wrong.length)
      let chance = 0
      for (const { code, as } of tried) {
        chance += code.isLong ? LONG_CHANCE : SHORT_CHANCE
        if (as === 'own') code.code.ownTries++
        else if (as === 'stranger') code.code.tries++
        else code.code.byClient.set(client, (code.code.byClient.get(client) ?? 0) + 1)
      }
      if (tried.some(({ code }) => code.id === right)) return true
      if (right === undefined) chances.push({ at: now, chance })
      if (wrong.length < WRONG_PER_DAY) wrong.push(now)
      return false
    },
    wrongTries: () => wrong.length,
    newest: (now: number) => liveFor('', now)[0]?.id,
    /** In the worst 24 hours. */
    worstChance(): number {
      let worst = 0
      let sum = 0
      let first = 0
      for (const { at, chance } of chances) {
        sum += chance
        while (at - chances[first]!.at >= DAY_MS) sum -= chances[first++]!.chance
        worst = Math.max(worst, sum)
      }
      return worst
    },
  }
}

type Box = ReturnType<typeof mailbox>
const ADDRESSES = 1000
/** The service takes no more of each address than this in a minute; so many tries are made in each. */
const A_MINUTE = ADDRESSES / 10
const address = (index: number) => `attacker ${index % ADDRESSES}`

/** The attacker's tries in a minute, before any other client. */
const attacks: Record<string, (box: Box, now: number, minute: number) => void> = {
  'asks for all there is and burns it': (box, now, minute) => {
    for (let index = 0; index < 6; index++) box.request(address(index), now)
    for (let index = 0; index < A_MINUTE; index++) box.try(address(minute * A_MINUTE + index), now)
  },
  'asks for all there is and never tries': (box, now, minute) => {
    for (let index = 0; index < 6; index++) box.request(address(minute * 6 + index), now)
  },
  'tries what nobody asked for': (box, now, minute) => {
    for (let index = 0; index < A_MINUTE; index++) box.try(address(minute * A_MINUTE + index), now)
  },
  'asks from five addresses, and each tries what it asked for': (box, now) => {
    for (let index = 0; index < 5; index++) box.request(address(index), now)
    for (let turn = 0; turn < 5; turn++) for (let index = 0; index < 5; index++) box.try(address(index), now)
  },
  'stays below twenty wrong tries, then tries all that five addresses have of their own': (
    box,
    now,
    minute,
  ) => {
    for (let index = 0; index < 5; index++) box.request(address(index), now)
    const isLast = minute % 60 === 59
    for (let index = 0; index < 10 && box.wrongTries() < (minute % 120 < 60 ? 10 : 19); index++)
      box.try(address(index % 2), now)
    if (isLast || minute % 10 === 9)
      for (let turn = 0; turn < 5; turn++)
        for (let index = 0; index < 5; index++) box.try(address(index), now)
  },
  'asks late in each ten minutes and burns early': (box, now, minute) => {
    if (minute % 10 < 3)
      for (let index = 0; index < A_MINUTE; index++) box.try(address(minute * A_MINUTE + index), now)
    if (minute % 10 === 9) for (let index = 0; index < 6; index++) box.request(address(index), now)
  },
}
const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}
for (let seed = 1; seed <= 20; seed++) {
  const next = random(seed)
  const [asks, tries, clients] = [next() * 6, next() * 30, 1 + Math.floor(next() * 20)]
  attacks[`asks and tries at random, seed ${seed}`] = (box, now) => {
    for (let turn = 0; turn < 40; turn++) {
      const client = address(Math.floor(next() * clients))
      if (next() * 40 < asks) box.request(client, now)
      if (next() * 40 < tries) box.try(client, now)
    }
  }
}

describe('an attacker with a thousand addresses who also asks for codes, for a day and a half', () => {
  test.each(Object.entries(attacks))(
    'behavior: %s: its chance stays below 1 in 10,000 a day',
    (_what, attack) => {
      const box = mailbox()
      for (let minute = 0; minute < 1.5 * 1440; minute++) attack(box, minute * MINUTE_MS, minute)
      expect(box.worstChance()).toBeLessThanOrEqual(1e-4)
    },
  )

  test.each(Object.entries(attacks))(
    'behavior: %s: the owner gets in within ten minutes, at any time',
    (_what, attack) => {
      const box = mailbox()
      let waiting: number | undefined
      let longest = 0
      for (let minute = 0; minute < 1.5 * 1440; minute++) {
        const now = minute * MINUTE_MS
        attack(box, now, minute)
        if (minute % 61 === 0) waiting ??= minute
        if (waiting === undefined) continue
        box.request('owner', now + 1)
        // The attacker has its turn while the owner reads the mail.
        attack(box, now + 2, minute)
        const code = box.newest(now + 3)
        longest = Math.max(longest, minute - waiting)
        if (code !== undefined && box.try('owner', now + 3, code)) waiting = undefined
      }
      expect(longest).toBeLessThanOrEqual(10)
    },
  )
})
