import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import type { VpsConsole } from '../console.ts'
import type { HostFeatures } from '../vps-driver.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface ConsoleUnderTest {
  console: VpsConsole
  features: Pick<HostFeatures, 'serialConsole' | 'screen'>
  /** A machine that runs and asks for a login on its serial line. */
  id: string
  close?(): Promise<void>
}

const ANSWER_MS = 60_000
const ASK_AGAIN_MS = 2_000

/** Types Enter until the machine says something that matches. */
async function readUntil(line: Duplex, wanted: RegExp): Promise<string> {
  let seen = ''
  line.on('data', (bytes) => {
    seen += bytes
  })
  for (let waited = 0; waited < ANSWER_MS; waited += ASK_AGAIN_MS) {
    line.write('\r')
    for (let pause = 0; pause < ASK_AGAIN_MS; pause += 20) {
      if (wanted.test(seen)) return seen
      await sleep(20)
    }
  }
  throw new Error(`The machine said only: ${seen}`)
}

/** The duties of every console. */
export function vpsConsoleSuite(name: string, make: () => Promise<ConsoleUnderTest>): void {
  describe(`${name}: the console port`, { timeout: 4 * ANSWER_MS }, () => {
    let subject: ConsoleUnderTest
    beforeAll(async () => {
      subject = await make()
    })
    afterAll(() => subject?.close?.())

    test('error: an unknown machine has no console', async () => {
      for (const type of ['serial', 'vnc'] as const)
        await expect(subject.console.connect(makeVpsId(), type)).rejects.toMatchObject({
          code: 'machine_unknown',
        })
      await expect(subject.console.connect('../../etc', 'serial')).rejects.toMatchObject({
        code: 'machine_unknown',
      })
    })

    test('default: the serial line asks who is there', async () => {
      if (!subject.features.serialConsole) return
      const line = await subject.console.connect(subject.id, 'serial')
      expect(await readUntil(line, /login: /)).toContain('login: ')
      line.destroy()
    })

    test('behavior: a new reader of the serial line takes it over', async () => {
      if (!subject.features.serialConsole) return
      const first = await subject.console.connect(subject.id, 'serial')
      const ended = new Promise((resolve) => first.once('close', resolve))
      const second = await subject.console.connect(subject.id, 'serial')
      await ended
      expect(await readUntil(second, /login: /)).toContain('login: ')
      second.destroy()
    })

    test('default: the screen speaks RFB', async () => {
      if (!subject.features.screen) return
      const screen = await subject.console.connect(subject.id, 'vnc')
      const [greeting] = (await new Promise((resolve) =>
        screen.once('data', (bytes) => resolve([bytes])),
      )) as [Buffer]
      expect(greeting.toString()).toMatch(/^RFB 003\.008\n/)
      screen.destroy()
    })
  })
}
