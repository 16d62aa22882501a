import QRCode from 'qrcode'
import { expect, test } from 'vitest'
import { qrCode } from './qr-code.ts'

/** The dark modules of a drawn code, as `x,y`. */
function drawnModules(svg: string): Set<string> {
  const runs = svg.matchAll(/M(\d+) (\d+)h(\d+)v1H(\d+)z/g)
  return new Set(
    [...runs].flatMap(([, x, y, width]) =>
      Array.from({ length: Number(width) }, (_module, index) => `${Number(x) + index},${y}`),
    ),
  )
}

test('default: every dark module of the code is drawn, and no other', () => {
  const text = 'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=0x1&uint256=1'
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' })
  const all = Array.from({ length: modules.size ** 2 }, (_module, index) => [
    index % modules.size,
    Math.floor(index / modules.size),
  ])
  const dark = all.filter(([x, y]) => modules.get(y!, x!)).map(([x, y]) => `${x},${y}`)
  expect([...drawnModules(qrCode(text, 'A transfer').text)].sort()).toEqual(dark.sort())
})

test('behavior: it has a name, and the quiet zone that readers need', () => {
  const { text } = qrCode('hello', 'Say "hello"')
  expect(text).toContain('role="img" aria-label="Say &quot;hello&quot;"')
  expect(text).toContain('viewBox="-4 -4 29 29"')
})
