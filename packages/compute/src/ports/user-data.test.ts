import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { isGzip, userDataBytes } from './user-data.ts'

test.each(['#!/bin/sh\necho ä\n', '#cloud-config', 'Content-Type: text/plain\n\nabcd', ''])(
  'default: %j is what it is',
  (text) => expect(userDataBytes(text).toString()).toBe(text),
)

test('default: base64 is decoded, in one line or in many; other bytes are kept', () => {
  const gzip = gzipSync('#cloud-config\n')
  const text = gzip.toString('base64')
  for (const packed of [text, `${text}\n`, text.replace(/.{7}/g, '$&\r\n')])
    expect(userDataBytes(packed).equals(gzip)).toBe(true)
  expect([isGzip(gzip), isGzip(Buffer.from('#!')), isGzip(Buffer.alloc(0))]).toEqual([true, false, false])
})

test('behavior: what only begins as base64 is none', () => {
  for (const text of ['abcd#', 'abc', 'abcde', 'ab==cd==']) expect(userDataBytes(text).toString()).toBe(text)
})
