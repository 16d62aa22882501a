import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReverseDns } from '../../../platform/reverse-dns.ts'

/** The things that a backend of `ReverseDns` is tested with. */
export interface ReverseDnsSubject {
  rdns: ReverseDns
  /** All names that the world is told for an address. */
  namesOf(address: string): Promise<string[]>
  /** A name that leads to `leads.address`, and only there. */
  leads: { hostname: string; address: string; address6: string }
  close(): Promise<void>
}

const A = '198.18.0.7'
const B = '198.18.0.8'
const A6 = '2001:db8:1:2::107'

/** The behavior of every backend of `ReverseDns`. */
export function reverseDnsSuite(name: string, open: () => Promise<ReverseDnsSubject>) {
  describe(`reverse names by ${name}`, () => {
    let subject: ReverseDnsSubject
    beforeAll(async () => {
      subject = await open()
    })
    afterAll(() => subject?.close())
    const publish = (address: string, hostname: string | null) => subject.rdns.publish(address, hostname)

    test.each([A, A6])(
      'default: %s has the name that was published last, and none after null',
      async (address) => {
        expect(await subject.namesOf(address)).toEqual([])
        await publish(address, 'one.example.net')
        expect(await subject.namesOf(address)).toEqual(['one.example.net'])
        await publish(address, 'two.example.net')
        await publish(address, 'two.example.net')
        expect(await subject.namesOf(address)).toEqual(['two.example.net'])
        await publish(address, null)
        await publish(address, null)
        expect(await subject.namesOf(address)).toEqual([])
      },
    )

    test('behavior: one address is no other', async () => {
      await publish(A, 'one.example.net')
      await publish(B, 'two.example.net')
      await publish(A, null)
      expect(await subject.namesOf(B)).toEqual(['two.example.net'])
      await publish(B, null)
    })

    test('default: a name leads where it leads, in both families', async () => {
      const { hostname, address, address6 } = subject.leads
      expect(await subject.rdns.leadsTo(hostname, address)).toBe(true)
      expect(await subject.rdns.leadsTo(hostname, address6)).toBe(true)
      expect(await subject.rdns.leadsTo(hostname, B)).toBe(false)
      expect(await subject.rdns.leadsTo(hostname, A6)).toBe(false)
      expect(await subject.rdns.leadsTo('nowhere.example.net', address)).toBe(false)
    })
  })
}
