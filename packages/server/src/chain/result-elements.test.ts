import { expect, test } from 'vitest'
import { resultElements } from './result-elements.ts'

/** Pushes a text in parts of `size` characters, and returns the elements that were taken from it. */
function read(text: string, size: number) {
  const taken: unknown[] = []
  let most = 0
  const elements = resultElements((some) => {
    taken.push(...some)
    most = Math.max(most, some.length)
  })
  for (let at = 0; at < text.length; at += size) elements.push(text.slice(at, at + size))
  return { envelope: elements.end(), taken, most }
}

const logs = Array.from({ length: 40 }, (_, index) => ({ index, topics: ['0xdd', `0x${index}`], data: '0x' }))
const answer = (result: unknown, space?: number) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result }, undefined, space)

test('default: the elements of the result, wherever the parts of the answer end', () => {
  for (const space of [undefined, 2]) {
    const text = answer(logs, space)
    for (let size = 1; size < 400; size += 7) {
      const { envelope, taken } = read(text, size)
      expect(taken).toEqual(logs)
      expect(envelope).toEqual({ jsonrpc: '2.0', id: 1, result: [] })
    }
  }
})

test('behavior: they are taken while the answer arrives, and not all at its end', () => {
  const { taken, most } = read(answer(logs), 200)
  expect(taken).toHaveLength(logs.length)
  expect(most).toBeLessThan(10)
})

test.each([
  { what: 'no element', result: [] },
  { what: 'one element', result: [{ a: 1 }] },
  { what: 'texts that look like the end', result: [{ a: '"},{"b":"]}' }, { a: ']}],' }, { a: '\\"},{' }] },
  {
    what: 'objects in elements',
    result: [{ a: [{ b: 1 }, { b: 2 }] }, { a: { b: [[{}], [{}]] } }, { c: 3 }],
  },
])('behavior: $what', ({ result }) => {
  for (let size = 1; size < 60; size++) expect(read(answer(result), size).taken).toEqual(result)
})

test('behavior: the result may stand first, and more may follow it', () => {
  const text = `{"result" : [ ${JSON.stringify(logs[0])} , ${JSON.stringify(logs[1])} ] , "id" : 1, "more": [{"a":1},{"b":2}]}`
  for (let size = 1; size < text.length; size += 5) {
    const { envelope, taken } = read(text, size)
    expect(taken).toEqual(logs.slice(0, 2))
    expect(envelope).toEqual({ result: [], id: 1, more: [{ a: 1 }, { b: 2 }] })
  }
})

test('behavior: an answer without a list is answered as it is', () => {
  expect(read('{"error":{"code":-32005,"message":"no"}}', 5)).toEqual({
    envelope: { error: { code: -32005, message: 'no' } },
    taken: [],
    most: 0,
  })
})

test.each([
  '',
  'no JSON',
  '{"result":[',
  '{"result":[{}',
  '{"result":[{},]}',
  '{"result":[{}]',
  '{"result":[{}]} {}',
  '{"other":{"result":[{}]}}',
])('error: %s', (text) => {
  for (const size of [1, 3, 100]) expect(() => read(text, size)).toThrow('no JSON')
})

test('error: what cannot be taken apart is not held without end', () => {
  const elements = resultElements(() => {})
  elements.push('{"result":[{"a":"')
  const push = () => {
    for (let count = 0; count < 9; count++) elements.push('x'.repeat(1024 * 1024))
  }
  expect(push).toThrow('no list of logs')
})
