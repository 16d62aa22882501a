import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { whatIsWrong } from './user-data.ts'

const base64 = (content: string | Buffer) => Buffer.from(content as string).toString('base64')

test.each([
  '#cloud-config\nruncmd: [ls]\n',
  '#cloud-config',
  '#cloud-config \r\npackages: []',
  '#!/bin/sh\necho hi',
  '#! /usr/bin/env python3\n',
  'Content-Type: multipart/mixed; boundary="x"\nMIME-Version: 1.0\n\n--x\n',
  'MIME-Version: 1.0\r\nX-Long: a\r\n b\r\ncontent-type: text/x-shellscript\r\n\r\n#!/bin/sh\n',
  'From nobody Sat Jan  1 00:00:00 2030\nContent-Type: multipart/mixed; boundary="x"\n\n--x\n',
  '## template: jinja\n#cloud-config\nhostname: {{ v1.local_hostname }}\n{% if x %}\n',
  '#include\nhttps://192.0.2.1/\n',
  '#include-once\nhttps://192.0.2.1/\n',
  '#cloud-boothook\n#!/bin/sh\n',
  '#cloud-config-archive\n- type: text/cloud-config\n  content: "runcmd: [ls]"\n',
  base64(gzipSync('#cloud-config\nruncmd: [ls]\n')),
  base64(gzipSync('#cloud-config\nruncmd: [ls]\n')).replace(/.{20}/g, '$&\n'),
  base64('#!/bin/sh\necho hi\n'),
  base64('#cloud-config\nruncmd: [ls]\n'),
])('default: %j is user data', (text) => expect(whatIsWrong(text)).toBeUndefined())

test.each([
  'runcmd:\n  - [sh, -c, "echo a: b"]\n  - echo \'it: is\'\n',
  'packages: [git]\npackages: [curl]\n',
  'write_files:\n- path: /a\n  content: |\n    x: [\n    \ttab\n',
  'write_files:\n- {path: /a, encoding: b64, content: !!binary aGk=}\n',
  'a: &all [1]\nb: *all\nbase: &base {c: 1}\nd:\n  <<: *base\n',
  'ssh_pwauth: no\npassword: 0755\nat: 12:30:45\n',
  '---\nruncmd: [ls]\n...\n',
  '# nothing but a comment\n',
])('default: cloud-config that cloud-init reads is taken: %j', (yaml) =>
  expect(whatIsWrong(`#cloud-config\n${yaml}`)).toBeUndefined(),
)

test.each([
  ['runcmd: [ls\n', 'line 3'],
  ['packages:\n  - git\n - curl\n', 'line 4'],
  ['hostname: web: 1\n', 'line 2'],
  ['a: "never closed\n', 'line 3'],
  ['runcmd:\n\t- ls\n', 'line 3'],
  ['a: *nothing\n', 'line 2'],
  ['a: 1\n---\nb: 2\n', 'more than one'],
  ['a: !unknown 1\n', 'line 2'],
  ['- runcmd\n- ls\n', 'no mapping'],
  ['just text\n', 'no mapping'],
])('error: cloud-config that cloud-init passes over is refused, with the place: %j', (yaml, place) => {
  expect(whatIsWrong(`#cloud-config\n${yaml}`)).toContain(place)
  expect(whatIsWrong(base64(`#cloud-config\n${yaml}`))).toContain(place)
})

test.each([
  '',
  'echo hi',
  ' #cloud-config\n',
  '\n#!/bin/sh\n',
  '#cloud-configuration\n',
  '#includes\nhttps://192.0.2.1/\n',
  base64('echo hi'),
  'abcd',
  '#!ls',
  'MIME-Version: 1.0\n\nContent-Type: text/plain\n',
  'runcmd: [ls]\nContent-Type',
  '\u0000',
])('error: %j is none', (text) => expect(whatIsWrong(text)).toContain('neither #cloud-config'))

test('behavior: long headers that lead nowhere are judged at once', () => {
  const begun = performance.now()
  expect(whatIsWrong(`${'a:\n b\n'.repeat(10_000)}x`)).toContain('neither')
  expect(whatIsWrong('a-'.repeat(32_000))).toContain('neither')
  expect(performance.now() - begun).toBeLessThan(1_000)
})

test('error: what is nested too deeply to be read is none', () => {
  for (const open of ['[', '{a: ', '- ', '? '])
    expect(whatIsWrong(`#cloud-config\n${open.repeat(16_000)}`)).toContain('not YAML')
})
