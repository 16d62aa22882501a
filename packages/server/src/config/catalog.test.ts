import { expect, test } from 'vitest'
import { parseCatalog } from './catalog.ts'
import defaultCatalog from './default-catalog.json' with { type: 'json' }

const parse = (change: (catalog: typeof defaultCatalog) => unknown) => {
  const copy = structuredClone(defaultCatalog)
  return parseCatalog(JSON.stringify(change(copy) ?? copy), 'my-catalog.json')
}
const plan = (change: object) => (catalog: typeof defaultCatalog) => {
  Object.assign(catalog.plans[0]!, change)
}

test('default: prices are micro-dollars', () => {
  const { plans } = parse(() => undefined)
  expect(plans.length).toBeGreaterThanOrEqual(5)
  expect(plans[0]).toMatchObject({ slug: 'nano', price: 3_000_000n, price_hourly: 4_500n })
})

test.each<[string, (catalog: typeof defaultCatalog) => unknown, RegExp]>([
  ['a price of nothing', plan({ price: '0.00' }), /plans\.0\.price: Expected US dollars/],
  ['a price below zero', plan({ price: '-3.00' }), /plans\.0\.price/],
  ['a price that is a number', plan({ price: 3 }), /plans\.0\.price/],
  ['an hour without a price', plan({ price_hourly: undefined }), /plans\.0\.price_hourly/],
  ['a slug with a space', plan({ slug: 'na no' }), /plans\.0\.slug/],
  ['a slug that is used twice', plan({ slug: 'micro' }), /used twice/],
  ['a machine of no memory', plan({ memory_mb: 0 }), /plans\.0\.memory_mb/],
  ['a misspelt field', plan({ memroy_mb: 1 }), /memroy_mb/],
  ['no plan', (catalog) => ({ ...catalog, plans: [] }), /plans/],
  ['no region', (catalog) => ({ ...catalog, region: '' }), /region/],
])('error: %s is named', (_what, change, message) => {
  expect(() => parse(change)).toThrow(message)
  expect(() => parse(change)).toThrow(/my-catalog\.json/)
})

test('error: text that is not JSON', () => {
  expect(() => parseCatalog('{', 'my-catalog.json')).toThrow(/my-catalog\.json is not JSON/)
})
