import { createFakeReverseDns } from './fake-reverse-dns.ts'
import { reverseDnsSuite } from './reverse-dns.suite.ts'

reverseDnsSuite('the fake', async () => {
  const rdns = createFakeReverseDns()
  const leads = { hostname: 'web.example.net', address: '198.18.0.9', address6: '2001:db8:1:2::109' }
  rdns.forward.add(`${leads.hostname} ${leads.address}`).add(`${leads.hostname} ${leads.address6}`)
  return {
    rdns,
    leads,
    namesOf: async (address) => [rdns.names.get(address) ?? []].flat(),
    close: async () => {},
  }
})
