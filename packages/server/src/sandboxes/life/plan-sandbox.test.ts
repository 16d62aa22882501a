import { expect, test } from 'vitest'
import { planSandbox } from './plan-sandbox.ts'

const row = (state: string, wanted: string, change = {}) =>
  ({ state, wanted, wanted_network: 0, done_network: 0, gone_at: null, ...change }) as never
const seen = (state: 'running' | 'paused' | 'ended') => ({ state, ranMs: 0 })

test.each([
  ['a new one is made', row('starting', 'running'), undefined, 'make'],
  [
    'one that was made and not written down is made again',
    row('starting', 'running'),
    seen('running'),
    'make',
  ],
  ['one that ended before it was there is lost', row('starting', 'running'), seen('ended'), 'lose'],
  ['one that runs is left alone', row('running', 'running'), seen('running'), 'nothing'],
  ['one that crashed is lost', row('running', 'running'), seen('ended'), 'lose'],
  ['one that disappeared is lost', row('paused', 'paused'), undefined, 'lose'],
  ['one that is to be paused is paused', row('running', 'paused'), seen('running'), 'pause'],
  [
    'one that was paused and not written down is paused again',
    row('running', 'paused'),
    seen('paused'),
    'pause',
  ],
  ['a paused one that runs is paused', row('paused', 'paused'), seen('running'), 'pause'],
  ['a paused one is left alone', row('paused', 'paused'), seen('paused'), 'nothing'],
  ['one that is to go on is resumed', row('paused', 'running'), seen('paused'), 'resume'],
  [
    'one that went on and was not written down is resumed again',
    row('paused', 'running'),
    seen('running'),
    'resume',
  ],
  [
    'one that does not run although it should is resumed',
    row('running', 'running'),
    seen('paused'),
    'resume',
  ],
  [
    'a network that is due is applied',
    row('running', 'running', { wanted_network: 1 }),
    seen('running'),
    'apply_network',
  ],
  ['one that is to end is ended, wherever it is', row('starting', 'ended'), undefined, 'end'],
  ['what failed is ended', row('failed', 'ended'), seen('running'), 'end'],
  ['what is over but there is ended', row('ended', 'ended'), seen('running'), 'end'],
  ['of what is gone nothing is done', row('ended', 'ended', { gone_at: new Date(0) }), undefined, 'nothing'],
])('default: %s', (_what, wish, observation, step) => {
  expect(planSandbox(wish, observation)).toBe(step)
})
