import { expect, test } from 'vitest'
import { createTypeStripper } from './type-stripper.ts'

const stripper = createTypeStripper()
const refusal = (code: string) => stripper.strip(code).catch((error) => error.message)

test('default: types become blanks, so that lines and columns stay', async () => {
  const code = 'interface A { a: string }\nconst a: A = { a: "1" }\nawait (a as unknown)'
  const text = await stripper.strip(code)
  expect(text.split('\n').map((line) => line.length)).toEqual(code.split('\n').map((line) => line.length))
  expect(text.replace(/ +/g, ' ')).toBe(' \nconst a = { a: "1" }\nawait (a )')
})

test('error: what is no program is refused with its line', async () => {
  expect(await refusal('let a = 1\nlet b: = 2')).toMatch(/^code: line 2: Unexpected token/)
  expect(await refusal('let a = 1\n\nenum B { C }')).toMatch(/^code: line 3: .*enum/)
})

test.each([
  ['deep', '('.repeat(60_000)],
  ['deep in templates', '`${'.repeat(20_000)],
  ['deep in types', `let a: ${'A<'.repeat(30_000)}`],
])(
  'error: a program that breaks the parser, %s, is refused, and the next one is parsed',
  async (_what, code) => {
    expect(await refusal(code)).toMatch(/^code: /)
    expect(await stripper.strip('let a: number = 1')).toBe('let a         = 1')
  },
)

test('behavior: programs at the same time are each answered with their own', async () => {
  const codes = Array.from({ length: 20 }, (_, index) => `let a${index} = ${index}`)
  expect(await Promise.all(codes.map((code) => stripper.strip(code)))).toEqual(codes)
})
