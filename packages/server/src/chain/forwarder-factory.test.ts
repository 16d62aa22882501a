import { expect, test } from 'vitest'
import { forwarderFactoryAddress } from './forwarder-factory.ts'

test('behavior: the factory of a treasury stays where it was first published: deposit addresses hang on it', () => {
  expect(forwarderFactoryAddress('0xa0Ee7A142d267C1f36714E4a8F75612F20a79720')).toBe(
    '0x16a64536703CB11E61C9Ec5A9F87DF13978dF789',
  )
})
