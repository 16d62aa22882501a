import { freePort } from '@coinrack/host/free-port.ts'
import { expect, test } from 'vitest'
import { openPool } from './pool.ts'
import { serversOf } from './several-servers.ts'
import { databaseTrouble } from './trouble.ts'

test('default: a URL with one server is that one', () => {
  const socket = 'postgresql://coinrack:secret@localhost:5432/coinrack?host=%2Fvar%2Flib'
  expect(serversOf(socket)).toEqual([socket])
  expect(serversOf('postgres:///coinrack')).toEqual(['postgres:///coinrack'])
})

test('default: a URL with several is each of them, with all the rest the same', () => {
  expect(serversOf('postgres://me:a%2Cb@one:5432,[fd00::2]:5433,three/db?sslmode=require')).toEqual([
    'postgres://me:a%2Cb@one:5432/db?sslmode=require',
    'postgres://me:a%2Cb@[fd00::2]:5433/db?sslmode=require',
    'postgres://me:a%2Cb@three/db?sslmode=require',
  ])
})

test('error: while none takes writes, the failure names what each said, and is one that passes', async () => {
  const [one, other] = [await freePort(), await freePort()]
  const pool = openPool(`postgres://me@127.0.0.1:${one},127.0.0.1:${other}/db`, {
    size: 1,
    onError: () => {},
  })
  const failure = await pool.query('select 1').catch((error) => error)
  expect(failure.message).toContain(`127.0.0.1:${one}`)
  expect(failure.message).toContain(`127.0.0.1:${other}`)
  expect(databaseTrouble(failure)?.code).toBe('unavailable')
  await pool.end()
})
