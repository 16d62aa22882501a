import { describe, expect, test } from 'vitest'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { makeSpec } from '../testing.ts'
import { checkSpec } from './spec.ts'

test('default: a machine that can be made', () => {
  expect(() => checkSpec(makeSpec())).not.toThrow()
})

const broken: Record<string, Partial<VpsSpec>> = {
  'an id that is a path': { id: '../../../etc' },
  'no processor': { vcpus: 0 },
  'too little memory': { memoryMb: 64 },
  'a disk smaller than the image': { diskGb: 1 },
  'a hostname that would be an option': { hostname: '-x' },
  'a hostname of two lines': { hostname: 'a\nb' },
  'a key of two lines': { sshAuthorizedKeys: ['ssh-ed25519 AAAA\nssh-ed25519 BBBB'] },
  'a hash that breaks out of its field': { rootPasswordHash: '$6$a$b:0:0' },
  'an address that is no address': { sshAddress: { host: '127.0.0.1,hostfwd=tcp::1-:1', port: 22 } },
  'user data that is too long': { userData: `#!/bin/sh\n${'x'.repeat(65_536)}` },
  'user data with a NUL': { userData: '#!/bin/sh\0' },
  'a port out of range': { sshAddress: { host: '127.0.0.1', port: 70_000 } },
}

describe('error: spec_invalid', () => {
  test.each(Object.entries(broken))('error: %s', (_, change) => {
    expect(() => checkSpec(makeSpec(change))).toThrow(expect.objectContaining({ code: 'spec_invalid' }))
  })
})
