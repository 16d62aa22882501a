import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Billed, type BillingStep, periodsAfter, planBilling } from './billing.ts'
import { monthsAfter } from './period.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const at = (text: string) => new Date(`${text}Z`)
const after = (from: Date, ms: number) => new Date(from.getTime() + ms)

const anchor = at('2026-01-31T12:00:00')
const paidUntil = at('2026-02-28T12:00:00')
const vps: Billed = {
  cycle: 'monthly',
  anchor,
  paidUntil,
  autoRenew: true,
  endsThen: false,
  deleteAt: null,
  noticedDays: null,
  owesSince: null,
}

describe('periods', () => {
  test('default: months keep the day of the anchor, over shorter ones too', () => {
    expect(periodsAfter('monthly', anchor, anchor, 4)).toEqual([
      { from: anchor, until: paidUntil },
      { from: paidUntil, until: at('2026-03-31T12:00:00') },
      { from: at('2026-03-31T12:00:00'), until: at('2026-04-30T12:00:00') },
      { from: at('2026-04-30T12:00:00'), until: at('2026-05-31T12:00:00') },
    ])
  })

  test('default: hours follow each other from any moment', () => {
    const from = at('2026-02-28T23:30:00')
    expect(periodsAfter('hourly', anchor, from, 2)).toEqual([
      { from, until: at('2026-03-01T00:30:00') },
      { from: at('2026-03-01T00:30:00'), until: at('2026-03-01T01:30:00') },
    ])
  })

  test('error: a month that begins between two anchored ones', () => {
    expect(() => periodsAfter('monthly', anchor, at('2026-02-27T12:00:00'), 1)).toThrow(RangeError)
    expect(() => periodsAfter('monthly', anchor, at('2026-02-28T12:00:01'), 1)).toThrow(RangeError)
  })

  test('behavior: asked one by one they are those that were asked for at once', () => {
    const anyDay = fc.date({ min: at('2000-01-01T00:00'), max: at('2099-12-31T00:00'), noInvalidDate: true })
    fc.assert(
      fc.property(anyDay, fc.constantFrom('monthly' as const, 'hourly' as const), (start, cycle) => {
        const all = periodsAfter(cycle, start, start, 30)
        for (const [index, period] of all.entries()) {
          expect(period.from).toEqual(index === 0 ? start : all[index - 1]!.until)
          expect(periodsAfter(cycle, start, period.from, 1)).toEqual([period])
        }
      }),
    )
  })
})

describe('what is next', () => {
  const next = (change: Partial<Billed>, covers: boolean, now: Date) =>
    planBilling({ ...vps, ...change }, covers, now)

  test('default: nothing while it is paid and the end is far', () => {
    expect(next({}, false, after(paidUntil, -7 * DAY_MS - 1))).toEqual({ do: 'nothing' })
  })

  test.each([
    [7 * DAY_MS, null, 7],
    [3 * DAY_MS + 1, null, 7],
    [3 * DAY_MS + 1, 7, undefined],
    [3 * DAY_MS, 7, 3],
    [1 * DAY_MS, 3, 1],
    [1, 1, undefined],
    // The service was away: one notice, the last of those that were missed.
    [DAY_MS, null, 1],
    [DAY_MS, 7, 1],
  ])('default: %i ms before the end, after the notice of %s days: of %s days', (left, noticedDays, days) => {
    expect(next({ noticedDays }, true, after(paidUntil, -left))).toEqual(
      days === undefined ? { do: 'nothing' } : { do: 'notice', days },
    )
  })

  test('default: at the end, not before, it is charged for the next period', () => {
    expect(next({ noticedDays: 1 }, true, after(paidUntil, -1))).toEqual({ do: 'nothing' })
    const period = { from: paidUntil, until: at('2026-03-31T12:00:00') }
    expect(next({}, true, paidUntil)).toEqual({ do: 'renew', period })
  })

  test('behavior: late by a week it is charged from the end of the last period', () => {
    const period = { from: paidUntil, until: at('2026-03-31T12:00:00') }
    expect(next({}, true, after(paidUntil, 7 * DAY_MS))).toEqual({ do: 'renew', period })
  })

  test.each([
    ['without money', { autoRenew: true }, false],
    ['without auto-renew', { autoRenew: false }, true],
  ])('default: %s it is suspended, and deleted after seven days from then', (_why, change, covers) => {
    const now = after(paidUntil, 9 * DAY_MS)
    const deleteAt = after(now, 7 * DAY_MS)
    expect(next(change, covers, now)).toEqual({ do: 'suspend', deleteAt })
    expect(next({ ...change, deleteAt }, covers, after(deleteAt, -1))).toEqual({ do: 'nothing' })
    expect(next({ ...change, deleteAt }, covers, deleteAt)).toEqual({ do: 'delete' })
  })

  test('default: an hourly one has three days, and no notices', () => {
    const hourly = { cycle: 'hourly' as const, paidUntil }
    expect(next(hourly, false, after(paidUntil, -1))).toEqual({ do: 'nothing' })
    expect(next(hourly, false, paidUntil)).toEqual({ do: 'suspend', deleteAt: after(paidUntil, 3 * DAY_MS) })
  })

  test('default: suspended, it goes on by itself when there is money, for a period that begins now', () => {
    const now = at('2026-03-03T08:15:00')
    expect(next({ deleteAt: after(now, 1) }, true, now)).toEqual({
      do: 'resume',
      period: { from: now, until: at('2026-04-03T08:15:00') },
    })
    expect(next({ deleteAt: after(now, 1), autoRenew: false }, true, now)).toEqual({ do: 'nothing' })
  })

  test('default: one that was cancelled ends with its paid time', () => {
    expect(next({ endsThen: true, noticedDays: 1 }, true, after(paidUntil, -1))).toEqual({ do: 'nothing' })
    expect(next({ endsThen: true }, true, paidUntil)).toEqual({ do: 'delete' })
    expect(next({ endsThen: true, deleteAt: after(paidUntil, DAY_MS) }, true, paidUntil)).toEqual({
      do: 'delete',
    })
  })
})

describe('a debt', () => {
  const owesSince = at('2026-02-10T08:00:00')
  const inDays = (days: number) => after(owesSince, days * DAY_MS)
  const next = (change: Partial<Billed>, now: Date) =>
    planBilling({ ...vps, owesSince, ...change }, false, now)

  test('default: a day after it began a VPS is suspended, and kept until long after its paid time', () => {
    expect(next({}, after(inDays(1), -1))).toEqual({ do: 'nothing' })
    const deleteAt = after(paidUntil, 7 * DAY_MS)
    expect(next({}, inDays(1))).toEqual({ do: 'suspend', deleteAt })
    expect(next({ deleteAt }, after(paidUntil, -1))).toEqual({ do: 'nothing' })
    expect(next({ deleteAt }, deleteAt)).toEqual({ do: 'delete' })
  })

  test('default: when it is paid, the VPS goes on in the time that is paid, for nothing', () => {
    const deleteAt = after(paidUntil, 7 * DAY_MS)
    expect(next({ deleteAt, owesSince: null }, inDays(3))).toEqual({ do: 'release' })
    expect(planBilling({ ...vps, deleteAt, autoRenew: false }, true, after(paidUntil, 1))).toEqual({
      do: 'nothing',
    })
  })

  test('behavior: while it lasts nothing is renewed', () => {
    expect(next({ owesSince: paidUntil }, paidUntil)).toMatchObject({ do: 'suspend' })
  })
})

/*
 * Years of looks at random moments, with money that comes and goes: whatever happens, what is charged is one chain of
 * periods of the right length, none before its start, none for a time in which the VPS was suspended.
 */
test('behavior: no period is charged twice, early, or for a time that was not served', () => {
  const history = fc.record({
    start: fc.date({ min: at('2024-01-01T00:00'), max: at('2031-12-31T00:00'), noInvalidDate: true }),
    cycle: fc.constantFrom('monthly' as const, 'hourly' as const),
    looks: fc.array(
      fc.record({
        // A look every now and then; sometimes the service was away for long.
        pauseMs: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 1, max: 2 * HOUR_MS }) },
          { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 * DAY_MS }) },
          { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 * DAY_MS }) },
        ),
        covers: fc.boolean(),
        autoRenew: fc.boolean(),
      }),
      { minLength: 20, maxLength: 60, size: 'max' },
    ),
  })
  fc.assert(
    fc.property(history, ({ start, cycle, looks }) => {
      const [first] = periodsAfter(cycle, start, start, 1)
      const charged = [first!]
      let state: Billed = { ...vps, cycle, anchor: start, paidUntil: first!.until }
      let now = start
      let suspendedAt: Date | undefined
      for (const { pauseMs, covers, autoRenew } of looks) {
        now = after(now, pauseMs)
        state = { ...state, autoRenew }
        // The money covers the charge of this look alone.
        let money = covers ? 1 : 0
        for (let step = planBilling(state, money > 0, now); step.do !== 'nothing'; ) {
          if (step.do === 'delete') return
          if (step.do === 'renew' || step.do === 'resume') {
            const before = charged.at(-1)!
            expect(step.period.from.getTime()).toBeGreaterThanOrEqual(before.until.getTime())
            expect(step.period.from.getTime()).toBeLessThanOrEqual(now.getTime())
            if (step.do === 'renew') expect(step.period.from).toEqual(before.until)
            else expect(step.period.from.getTime()).toBeGreaterThanOrEqual(suspendedAt!.getTime())
            charged.push(step.period)
            money--
          }
          state = apply(state, step)
          if (step.do === 'suspend') suspendedAt = now
          step = planBilling(state, money > 0, now)
        }
      }
      for (const { from, until } of charged) {
        const hours = (until.getTime() - from.getTime()) / HOUR_MS
        if (cycle === 'hourly') expect(hours).toBe(1)
        else expect([28, 29, 30, 31].map((days) => days * 24)).toContain(hours)
      }
    }),
  )
})

test('behavior: a year of months is twelve charges that end at the anchored day', () => {
  let state: Billed = {
    ...vps,
    anchor: at('2027-12-31T23:59:59.999'),
    paidUntil: at('2028-01-31T23:59:59.999'),
  }
  const ends: Date[] = []
  for (let now = state.anchor; ends.length < 24; now = after(now, HOUR_MS)) {
    const step = planBilling(state, true, now)
    if (step.do === 'renew') ends.push(step.period.until)
    state = apply(state, step)
  }
  expect(ends).toEqual(Array.from({ length: 24 }, (_, index) => monthsAfter(state.anchor, index + 2)))
  expect(ends[0]).toEqual(at('2028-02-29T23:59:59.999'))
})

/** The state that the service writes down after a step. */
function apply(state: Billed, step: BillingStep): Billed {
  switch (step.do) {
    case 'notice':
      return { ...state, noticedDays: step.days }
    case 'renew':
      return { ...state, paidUntil: step.period.until, noticedDays: null }
    case 'resume':
      return {
        ...state,
        anchor: step.period.from,
        paidUntil: step.period.until,
        deleteAt: null,
        noticedDays: null,
      }
    case 'suspend':
      return { ...state, deleteAt: step.deleteAt }
    default:
      return state
  }
}
