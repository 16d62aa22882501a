import { expect, test } from 'vitest'
import { judgeEmail } from './email-policy.ts'

const judge = (text: string) => judgeEmail(text, ['coinrack.dev'])

test.each([
  ['ada@rackmail.net', 'ada@rackmail.net'],
  ['Ada.Lovelace@RackMail.NET', 'ada.lovelace@rackmail.net'],
  ['ada+tag@rackmail.net', 'ada+tag@rackmail.net'],
  ["o'brien@rackmail.net", "o'brien@rackmail.net"],
  ['a@b.co', 'a@b.co'],
  ['agent@bücher.de', 'agent@xn--bcher-kva.de'],
  ['agent@XN--BCHER-KVA.de', 'agent@xn--bcher-kva.de'],
  ['agent@sub.domain.rackmail.net', 'agent@sub.domain.rackmail.net'],
  [`${'a'.repeat(64)}@rackmail.net`, `${'a'.repeat(64)}@rackmail.net`],
  // Not the reserved names, though they look like them.
  ['a@myexample.com', 'a@myexample.com'],
  ['a@test.net', 'a@test.net'],
  ['a@notcoinrack.dev', 'a@notcoinrack.dev'],
  ['roots@rackmail.net', 'roots@rackmail.net'],
])('default: %s is %s', (text, email) => {
  expect(judge(text)).toEqual({ email })
})

test.each([
  '',
  'ada',
  '@rackmail.net',
  'ada@',
  'a b@rackmail.net',
  '.ada@rackmail.net',
  'ada.@rackmail.net',
  'a..b@rackmail.net',
  '"ada"@rackmail.net',
  'ada@rackmail..net',
  'ada@-rackmail.net',
  'ada@rackmail-.net',
  'ada@rack_mail.net',
  'ada@rackmail.net/path',
  'ada@rackmail.net?x',
  'ada@rackmail.net:25',
  'ada@rack%6dail.net',
  'ada@rackmail.net ',
  'ada@rackmail.net\n',
  'ada\u0000@rackmail.net',
  'ada@b@rackmail.net',
  'ådå@rackmail.net',
  'Ada <ada@rackmail.net>',
  `${'a'.repeat(65)}@rackmail.net`,
  `a@${'b'.repeat(64)}.net`,
  `a@${'b.'.repeat(125)}net`,
])('error: %j is invalid', (text) => {
  expect(judge(text)).toMatchObject({ refused: 'invalid_email' })
})

test.each([
  'a@example.com',
  'a@EXAMPLE.org',
  'a@sub.example.net',
  'a@something.test',
  'a@mail.invalid',
  'a@host.localhost',
  'a@printer.local',
  'a@hidden.onion',
  'a@1.168.192.in-addr.arpa',
  'a@localhost',
  'a@rackmail',
  'a@127.0.0.1',
  'a@[127.0.0.1]',
  'a@[IPv6:::1]',
  'a@2130706433',
  'a@0x7f.1',
  'a@0300.1',
  'a@１２７.0.0.1',
  'a@coinrack.dev',
  'a@mail.coinrack.dev',
  'postmaster@rackmail.net',
  'Abuse@rackmail.net',
  'root@rackmail.net',
])('error: %s is reserved', (text) => {
  expect(judge(text)).toMatchObject({ refused: 'reserved_email' })
})

test('behavior: a million characters cost nothing', () => {
  const text = `${'a.'.repeat(500_000)}@rackmail.net`
  const begun = performance.now()
  for (let round = 0; round < 1000; round++) judge(text)
  expect(performance.now() - begun).toBeLessThan(200)
  expect(judge(text)).toMatchObject({ refused: 'invalid_email' })
})

test('behavior: spellings of one mailbox are one address', () => {
  const spellings = ['Agent@Bücher.DE', 'agent@bücher.de', 'AGENT@xn--bcher-kva.de', 'agent@bücher。de']
  expect(new Set(spellings.map((text) => JSON.stringify(judge(text))))).toHaveLength(1)
})
