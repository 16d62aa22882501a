import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { describe, expect, test } from 'vitest'
import { MOST_ATTEMPTS, PROVISIONING_LIMIT_MS, planVps, type Step } from './plan-vps.ts'

const start = new Date('2026-01-31T12:00:00Z')
const later = (milliseconds: number) => new Date(start.getTime() + milliseconds)

type Row = Parameters<typeof planVps>[0]
const row = (change: Partial<Row> = {}): Row => ({
  wanted: 'running',
  wanted_boot: 0,
  done_boot: 0,
  forced: false,
  status: 'active',
  ssh_ready: true,
  attempts: 0,
  provisioning_since: start,
  failure_reason: null,
  wanted_disk: 0,
  done_disk: 0,
  put_back: null,
  rescue: false,
  done_rescue: false,
  hostname_pending: false,
  next_root_password_hash: null,
  host_state: 'open',
  move_to: null,
  move_due_at: null,
  move_stop_from: null,
  ...change,
})
const absent: VpsObservation = { state: 'absent', sshReady: false }
const stopped: VpsObservation = { state: 'stopped', sshReady: false }
const booting: VpsObservation = { state: 'running', sshReady: false }
const ready: VpsObservation = { state: 'running', sshReady: true }
const unreachable: VpsObservation = { state: 'unreachable', sshReady: false }
const failed: VpsObservation = { state: 'failed', sshReady: false, reason: 'Kernel panic' }

const ensure: Step = { do: 'ensure' }
const startAgain: Step = { do: 'start_again' }
const destroy: Step = { do: 'destroy' }
const deliver: Step = { do: 'deliver' }
const nothing: Step = { do: 'nothing' }
const wipe: Step = { do: 'wipe' }
const tell: Step = { do: 'tell' }
const power = (action: 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset'): Step => ({
  do: 'power',
  action,
})
const record = (status: 'active' | 'stopped' | 'suspended', sshReady: boolean): Step => ({
  do: 'record',
  status,
  sshReady,
})

const table: [string, Partial<Row>, [VpsObservation, Step][]][] = [
  [
    'provisioning',
    { status: 'provisioning', ssh_ready: false },
    [
      [absent, ensure],
      [stopped, startAgain],
      // The driver starts over a first boot that died or hung: it is told again and again.
      [booting, ensure],
      [failed, ensure],
      [ready, deliver],
    ],
  ],
  [
    'wanted running, active',
    {},
    [
      [absent, power('start')],
      [stopped, power('start')],
      [booting, record('active', false)],
      [ready, nothing],
      [failed, power('start')],
    ],
  ],
  [
    'wanted running, active, SSH was lost',
    { ssh_ready: false },
    [
      [booting, nothing],
      [ready, record('active', true)],
    ],
  ],
  [
    'wanted running, stopped',
    { status: 'stopped', ssh_ready: false },
    [
      [absent, power('start')],
      [stopped, power('start')],
      [booting, record('active', false)],
      [ready, record('active', true)],
      [failed, power('start')],
    ],
  ],
  [
    'suspended, whatever was wanted of it',
    { status: 'suspended', wanted_boot: 1, hostname_pending: true },
    [
      [absent, record('suspended', false)],
      [stopped, record('suspended', false)],
      [booting, power('stop')],
      [ready, power('stop')],
    ],
  ],
  [
    'suspended and off',
    { status: 'suspended', ssh_ready: false },
    [
      [absent, nothing],
      [stopped, nothing],
      [failed, nothing],
      [ready, power('stop')],
    ],
  ],
  [
    'wanted stopped, active',
    { wanted: 'stopped' },
    [
      [absent, record('stopped', false)],
      [stopped, record('stopped', false)],
      [booting, power('stop')],
      [ready, power('stop')],
      [failed, record('stopped', false)],
    ],
  ],
  [
    'wanted stopped at once, active',
    { wanted: 'stopped', forced: true },
    [
      [stopped, record('stopped', false)],
      [booting, power('force_stop')],
      [ready, power('force_stop')],
    ],
  ],
  [
    'wanted stopped, stopped',
    { wanted: 'stopped', status: 'stopped', ssh_ready: false },
    [
      [absent, nothing],
      [stopped, nothing],
      [booting, power('stop')],
      [ready, power('stop')],
      [failed, nothing],
    ],
  ],
  [
    'one more boot wanted',
    { status: 'rebooting', ssh_ready: false, wanted_boot: 1 },
    [
      [absent, power('start')],
      [stopped, power('start')],
      [booting, power('reboot')],
      [ready, power('reboot')],
      [failed, power('start')],
    ],
  ],
  [
    'one more boot wanted at once',
    { status: 'rebooting', ssh_ready: false, wanted_boot: 1, forced: true },
    [
      [stopped, power('start')],
      [booting, power('reset')],
      [ready, power('reset')],
    ],
  ],
  [
    'reinstalling, the old disk is there',
    { status: 'reinstalling', ssh_ready: false, wanted_disk: 1 },
    [
      [absent, wipe],
      [stopped, wipe],
      [booting, wipe],
      [ready, wipe],
      [failed, wipe],
    ],
  ],
  [
    'reinstalling, the old disk is gone',
    { status: 'reinstalling', ssh_ready: false, wanted_disk: 2, done_disk: 2 },
    [
      [absent, ensure],
      [stopped, startAgain],
      [booting, ensure],
      [ready, record('active', true)],
      [failed, ensure],
    ],
  ],
  [
    'reinstalling, to have a retained disk again',
    { status: 'reinstalling', ssh_ready: false, wanted_disk: 1, done_disk: 1, put_back: 'snp_1' },
    [
      [absent, { do: 'put_back', disk: 'snp_1' }],
      [stopped, { do: 'put_back', disk: 'snp_1' }],
    ],
  ],
  [
    'reinstalling, long after it can not be made',
    { status: 'reinstalling', ssh_ready: false, wanted_disk: 1, done_disk: 1, attempts: 99 },
    [[absent, ensure]],
  ],
  [
    'to run its rescue system',
    { rescue: true, status: 'rebooting', ssh_ready: false },
    [
      [absent, power('start')],
      [stopped, power('start')],
      [booting, power('stop')],
      [ready, power('stop')],
    ],
  ],
  [
    'runs its rescue system',
    { rescue: true, done_rescue: true, hostname_pending: true, next_root_password_hash: '$6$' },
    [
      [ready, nothing],
      [booting, record('active', false)],
      [stopped, power('start')],
    ],
  ],
  [
    'to leave its rescue system, which hangs',
    { done_rescue: true, status: 'rebooting', forced: true },
    [[booting, power('force_stop')]],
  ],
  [
    'growing',
    { status: 'resizing', ssh_ready: false, wanted_boot: 1 },
    [
      [absent, power('start')],
      [stopped, power('start')],
      [booting, power('stop')],
      [ready, power('stop')],
    ],
  ],
  [
    'growing, booted with the new size',
    { status: 'resizing', ssh_ready: false, wanted_boot: 1, done_boot: 1 },
    [
      [stopped, power('start')],
      [booting, nothing],
      [ready, record('active', true)],
    ],
  ],
  [
    'a name was wished',
    { hostname_pending: true },
    [
      [stopped, power('start')],
      [booting, record('active', false)],
      [ready, tell],
    ],
  ],
  [
    'a password was wished, without SSH',
    { next_root_password_hash: '$6$', ssh_ready: false },
    [
      [booting, tell],
      [ready, record('active', true)],
    ],
  ],
  [
    'a password was wished, of one that is off',
    { next_root_password_hash: '$6$', ssh_ready: false, wanted: 'stopped', status: 'stopped' },
    [[stopped, nothing]],
  ],
  [
    'rebooted, SSH is waited for',
    { status: 'rebooting', ssh_ready: false, wanted_boot: 1, done_boot: 1 },
    [
      [stopped, power('start')],
      [booting, nothing],
      [ready, record('active', true)],
    ],
  ],
]
const statuses = [
  'provisioning',
  'active',
  'stopped',
  'rebooting',
  'reinstalling',
  'resizing',
  'suspended',
  'failed',
  'deleted',
] as const
const observations = [absent, stopped, booting, ready, failed, unreachable]

describe.each(table)('%s', (_name, change, steps) => {
  test.each(steps)('default: seen %j, does %j', (seen, step) => {
    expect(planVps(row(change), seen, start)).toEqual(step)
  })
})

test('behavior: nothing is started or ended where the host does not answer, and SSH counts as lost', () => {
  for (const status of statuses)
    for (const wanted of ['running', 'stopped'] as const)
      for (const change of [{}, { wanted_boot: 7 }, { rescue: true }, { wanted_disk: 3 }]) {
        const away = row({ status, wanted, ssh_ready: false, ...change })
        expect(planVps(away, unreachable, start)).toEqual(nothing)
      }
  expect(planVps(row({}), unreachable, start)).toEqual(record('active', false))
})

test('behavior: an order whose host stays away fails when its time is over', () => {
  const order = row({ status: 'provisioning', ssh_ready: false })
  expect(planVps(order, unreachable, later(PROVISIONING_LIMIT_MS + 1))).toMatchObject({ do: 'fail' })
})

test('behavior: what is wanted gone is destroyed, whatever it is', () => {
  for (const status of statuses) {
    for (const seen of observations) {
      expect(planVps(row({ wanted: 'deleted', status }), seen, later(PROVISIONING_LIMIT_MS * 2))).toEqual(
        destroy,
      )
    }
  }
})

describe('provisioning that does not succeed', () => {
  const provisioning = { status: 'provisioning', ssh_ready: false } as const

  test('behavior: tried again until the last attempt, then failed with the last reason', () => {
    const tried = (attempts: number) => row({ ...provisioning, attempts, failure_reason: 'No disk' })
    expect(planVps(tried(MOST_ATTEMPTS - 1), absent, start)).toEqual(ensure)
    expect(planVps(tried(MOST_ATTEMPTS), absent, start)).toEqual({ do: 'fail', reason: 'No disk' })
  })

  test('behavior: failed when the time is over, and not a millisecond before', () => {
    expect(planVps(row(provisioning), booting, later(PROVISIONING_LIMIT_MS))).toEqual(ensure)
    expect(planVps(row(provisioning), booting, later(PROVISIONING_LIMIT_MS + 1))).toMatchObject({
      do: 'fail',
    })
  })

  test('behavior: a machine that answers is delivered, however late and after however many attempts', () => {
    const late = row({ ...provisioning, attempts: MOST_ATTEMPTS })
    expect(planVps(late, ready, later(PROVISIONING_LIMIT_MS * 3))).toEqual(deliver)
  })
})

test('behavior: it takes no step twice: after what a step does, another or none follows', () => {
  const afterStop = row({ wanted: 'stopped', status: 'stopped', ssh_ready: false })
  expect(planVps(afterStop, stopped, start)).toEqual(nothing)
  const afterReboot = row({ status: 'rebooting', ssh_ready: false, wanted_boot: 3, done_boot: 3 })
  expect(planVps(afterReboot, booting, start)).toEqual(nothing)
})
