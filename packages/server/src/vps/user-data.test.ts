import { expect, test } from 'vitest'
import { isUserData } from './user-data.ts'

test.each([
  '#cloud-config\nruncmd: [ls]\n',
  '#cloud-config',
  '#cloud-config \r\npackages: []',
  '#!/bin/sh\necho hi',
  '#! /usr/bin/env python3\n',
  'Content-Type: multipart/mixed; boundary="x"\nMIME-Version: 1.0\n\n--x\n',
  'MIME-Version: 1.0\r\nX-Long: a\r\n b\r\ncontent-type: text/x-shellscript\r\n\r\n#!/bin/sh\n',
])('default: %j is user data', (text) => expect(isUserData(text)).toBe(true))

test.each([
  '',
  'echo hi',
  ' #cloud-config\n',
  '\n#!/bin/sh\n',
  '#cloud-configuration\n',
  '#include\nhttps://192.0.2.1/\n',
  '#!ls',
  'MIME-Version: 1.0\n\nContent-Type: text/plain\n',
  'runcmd: [ls]\nContent-Type',
  '\u0000',
])('error: %j is none', (text) => expect(isUserData(text)).toBe(false))

test('behavior: long headers that lead nowhere are judged at once', () => {
  const begun = performance.now()
  expect(isUserData(`${'a:\n b\n'.repeat(10_000)}x`)).toBe(false)
  expect(isUserData('a-'.repeat(32_000))).toBe(false)
  expect(performance.now() - begun).toBeLessThan(1_000)
})
