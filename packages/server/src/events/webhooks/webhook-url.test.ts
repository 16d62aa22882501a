import { expect, test } from 'vitest'
import { refuseUrl } from './webhook-url.ts'

test('default: https everywhere, http only where it is allowed', () => {
  expect(refuseUrl('https://rackmail.net/hook', { httpAllowed: false })).toBeUndefined()
  expect(refuseUrl('http://rackmail.net/hook', { httpAllowed: true })).toBeUndefined()
  expect(refuseUrl('http://rackmail.net/hook', { httpAllowed: false })).toBe('It has to be https')
})
