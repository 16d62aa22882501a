import { expect, test } from 'vitest'
import { keepHostKeys, plainAccess } from './ssh-access.ts'

const access = {
  host: '192.0.2.7',
  port: 2201,
  username: 'root',
  knownHosts: ['[192.0.2.7]:2201 ssh-ed25519 AAAA'],
  command: '',
}

test('default: an address and a name', () => {
  expect(plainAccess(access)).toBe(access)
  expect(plainAccess({ ...access, host: '2001:db8::7' }).host).toBe('2001:db8::7')
})

test.each([
  { host: '-oProxyCommand=id' },
  { host: 'a b' },
  { username: '-oProxyCommand=id' },
  { username: 'root\nProxyCommand id' },
  { port: 22.5 },
  { knownHosts: ['a ssh-ed25519 A\n* ssh-ed25519 B'] },
])('error: a service that answers %j is not believed', (lie) => {
  expect(() => plainAccess({ ...access, ...lie })).toThrow('that is none')
})

test('error: an identifier that leads out of the folder writes nothing', async () => {
  const env = { HOME: '/nonexistent' }
  await expect(keepHostKeys(env, '../../authorized_keys', ['key'])).rejects.toThrow('that is none')
  await expect(keepHostKeys(env, 'vps_1', [])).rejects.toThrow('no host key')
})
