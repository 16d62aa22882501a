import { expect, test } from 'vitest'
import { listenAddress, localAddress } from './ssh-address.ts'

test("behavior: an address that is not this host's own is served everywhere", () => {
  expect(listenAddress({ host: '127.0.0.1', port: 1 })).toEqual({ host: '127.0.0.1', port: 1 })
  const outside = listenAddress({ host: '192.0.2.7', port: 1 })
  expect(outside).toEqual({ host: '0.0.0.0', port: 1 })
  expect(localAddress(outside)).toEqual({ host: '127.0.0.1', port: 1 })
})
