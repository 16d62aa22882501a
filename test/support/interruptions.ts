import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@coinrack/sdk/index.ts'
import { expect } from 'vitest'
import { ended } from './one-vps.ts'
import type { RunningService } from './running-service.ts'

/** The subject of an interruption: one VPS of a customer, in a service that can be killed. */
export interface Subject {
  customer: Client
  id: string
  /** Runs a command inside by ssh, as soon as SSH answers. */
  inside(command: string): Promise<string>
  /** Processes of QEMU that run the machine. */
  guests(): Promise<number>
}

/** One kind of operation. */
export interface Interruption {
  name: string
  /** A kill comes within this time after the operation was asked for. */
  withinMs: number
  /**
   * Asks for it, and returns how what was asked for is found to be so, once a service runs again. The kill comes
   * between the two.
   */
  ask(subject: Subject): Promise<() => Promise<void>>
}

const shown = ({ customer, id }: Subject) => customer.getVpsStatus({ service_id: id, reveal: false })

const succeeds = async (subject: Subject, operation: { id: string }) =>
  expect(await ended(subject, operation)).toMatchObject({ status: 'succeeded', error: null })

const settledSnapshots = async ({ customer, id }: Subject) =>
  (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items

/** All that the issue of control names, in an order in which one machine can go through all of them. */
export const interruptions: Interruption[] = [
  {
    name: 'power',
    withinMs: 6_000,
    async ask(subject) {
      const { customer, id, inside } = subject
      const before = await inside('cat /proc/sys/kernel/random/boot_id')
      const { operation } = await customer.powerVps({ service_id: id, action: 'reboot' })
      return async () => {
        await succeeds(subject, operation)
        expect(await inside('cat /proc/sys/kernel/random/boot_id')).not.toBe(before)
        expect(await shown(subject)).toMatchObject({ status: 'active', ssh_ready: true })
      }
    },
  },
  {
    name: 'hostname',
    withinMs: 1_000,
    async ask(subject) {
      const { customer, id, inside } = subject
      const hostname = `shop-${Date.now() % 1000}`
      const { operation } = await customer.setHostname({ service_id: id, hostname })
      return async () => {
        await succeeds(subject, operation)
        expect(await inside('hostname; cat /etc/hostname')).toBe(`${hostname}\n${hostname}`)
      }
    },
  },
  {
    name: 'reset-password',
    withinMs: 1_500,
    async ask(subject) {
      const { customer, id, inside } = subject
      const before = await inside('getent shadow root | cut -d: -f2')
      const { operation } = await customer.resetPassword({ service_id: id })
      return async () => {
        await succeeds(subject, operation)
        expect(await inside('getent shadow root | cut -d: -f2')).not.toBe(before)
        const reads = await Promise.all(
          Array.from({ length: 5 }, () => customer.getVpsStatus({ service_id: id })),
        )
        expect(reads.filter(({ root_password }) => root_password)).toHaveLength(1)
      }
    },
  },
  {
    name: 'firewall',
    withinMs: 800,
    async ask(subject) {
      const { customer, id, inside } = subject
      const rule = { action: 'deny' as const, direction: 'in' as const, protocol: 'tcp' as const }
      const rules = [{ ...rule, ports: ['8080'] }]
      await customer.setFirewall({ service_id: id, default_in: 'allow', default_out: 'allow', rules })
      return async () => {
        for (let attempt = 0; attempt < 60; attempt++) {
          const { applied } = await customer.getFirewall({ service_id: id })
          if (applied) break
          await inside('true')
        }
        expect(await customer.getFirewall({ service_id: id })).toMatchObject({ applied: true, rules })
      }
    },
  },
  {
    name: 'snapshot',
    withinMs: 2_500,
    async ask(subject) {
      const { customer, id } = subject
      const { snapshot } = await customer.createSnapshot({ service_id: id, include_memory: true })
      return async () => {
        expect(await settledSnapshots(subject)).toMatchObject([
          { id: snapshot.id, status: 'ready', consistency: 'memory' },
        ])
        await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })
        expect(await settledSnapshots(subject)).toEqual([])
      }
    },
  },
  {
    name: 'restore',
    withinMs: 3_000,
    async ask(subject) {
      const { customer, id, inside } = subject
      await inside('echo before >/root/state; sync')
      const { snapshot } = await customer.createSnapshot({ service_id: id })
      expect(await settledSnapshots(subject)).toMatchObject([{ status: 'ready' }])
      await inside('echo after >/root/state; sync')
      await customer.restoreSnapshot({ service_id: id, snapshot_id: snapshot.id })
      return async () => {
        expect(await settledSnapshots(subject)).toMatchObject([{ status: 'ready', failure_reason: null }])
        expect(await inside('cat /root/state')).toBe('before')
        await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })
        expect(await settledSnapshots(subject)).toEqual([])
      }
    },
  },
  {
    name: 'change-plan',
    withinMs: 10_000,
    async ask(subject) {
      const { customer, id, inside } = subject
      const { balance } = await customer.getBalance()
      const answer = await customer.changePlan({ service_id: id, target_plan: 'micro', confirm: true })
      return async () => {
        await succeeds(subject, answer.operation)
        expect(Number(await inside(`awk '/MemTotal/{print int($2/1024)}' /proc/meminfo`))).toBeGreaterThan(
          800,
        )
        expect((await customer.getBalance()).balance).toBe(balance - answer.charged)
      }
    },
  },
  {
    name: 'reinstall',
    withinMs: 15_000,
    async ask(subject) {
      const { customer, id, inside } = subject
      await inside('echo kept >/root/kept; sync')
      const before = (await shown(subject)).ssh
      const { operation } = await customer.reinstallVps({ service_id: id, os_id: 2, confirm: 'DELETE' })
      return async () => {
        await succeeds(subject, operation)
        expect((await shown(subject)).ssh).toEqual(before)
        expect(await inside('ls /root; . /etc/os-release; echo $VERSION_CODENAME')).toBe('trixie')
      }
    },
  },
  {
    name: 'cancel',
    withinMs: 1_000,
    async ask(subject) {
      const { customer, id } = subject
      const { hostname } = await shown(subject)
      const { operation } = await customer.cancelService({
        service_id: id,
        mode: 'immediate',
        confirm: hostname,
      })
      return async () => {
        await succeeds(subject, operation)
        expect(await shown(subject)).toMatchObject({ status: 'deleted' })
        const { items } = await customer.listTransactions({ limit: 100 })
        expect(items.filter(({ kind }) => kind === 'refund')).toHaveLength(1)
      }
    },
  },
]

/** Asks for it, kills the service at a moment within, starts it again, and looks. */
export async function interrupt(
  service: RunningService,
  subject: Subject,
  { name, withinMs, ask }: Interruption,
  /** From 0 to 1. */
  chance: number,
): Promise<void> {
  const check = await ask(subject)
  const afterMs = Math.round(chance * withinMs)
  console.log(`${name}: SIGKILL after ${afterMs} ms`)
  await sleep(afterMs)
  await service.kill()
  await service.start()
  await check()
  expect(await subject.guests()).toBe(name === 'cancel' ? 0 : 1)
}
