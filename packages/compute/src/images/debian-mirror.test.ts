import { expect, test } from 'vitest'
import { pickMirror } from './debian-mirror.ts'

test("default: the host's own mirrors, and not those of others", () => {
  const targets = [
    'nodesource|https://deb.example.com/node/',
    'Debian Backports|http://backports.example.com/debian/',
    'Debian|http://mirror.example.com/debian/',
    'Debian-Security|http://mirror.example.com/debian-security/',
  ].join('\n')
  expect(pickMirror(targets)).toEqual({
    main: 'http://mirror.example.com/debian',
    security: 'http://mirror.example.com/debian-security',
  })
})

test('behavior: the public mirrors where the host is no Debian', () => {
  expect(pickMirror('Ubuntu|http://archive.example.com/ubuntu/')).toEqual({
    main: 'http://deb.debian.org/debian',
    security: 'http://security.debian.org/debian-security',
  })
})
