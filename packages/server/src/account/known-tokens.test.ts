import { expect, test } from 'vitest'
import { createKnownTokens } from './known-tokens.ts'

test('behavior: of many who present a new token at the same moment one looks it up as unknown', async () => {
  const known = createKnownTokens()
  const asked: boolean[] = []
  const look = async (isKnown: boolean) => {
    asked.push(isKnown)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return 'its account'
  }
  const all = await Promise.all(Array.from({ length: 5 }, () => known.lookUp('crk_new', look)))
  expect(all).toEqual(Array(5).fill('its account'))
  expect(asked).toEqual([false, true, true, true, true])
})

test('behavior: one that was good and no longer is is unknown again', async () => {
  const known = createKnownTokens()
  const asked: boolean[] = []
  const answers = ['its account', undefined, undefined]
  for (const answer of answers)
    await known.lookUp('crk_revoked', async (isKnown) => {
      asked.push(isKnown)
      return answer
    })
  expect(asked).toEqual([false, true, false])
})

test('error: a look-up that fails is an error for who asked, and the next one looks by itself', async () => {
  const known = createKnownTokens()
  const fails = known.lookUp('crk_new', async () => {
    throw new Error('No database')
  })
  const waits = known.lookUp('crk_new', async (isKnown) => `known: ${isKnown}`)
  await expect(fails).rejects.toThrow('No database')
  expect(await waits).toBe('known: false')
})
