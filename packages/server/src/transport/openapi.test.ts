import { eventTypes } from '@coinrack/contract/events.ts'
import { expect, test } from 'vitest'
import { openapi } from './openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
const document = openapi() as any
// biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
const all: any[] = Object.values(document.paths).flatMap((path) => Object.values(path as object))

test('behavior: each operation stands with its subject, and only what leads to others is the guide', () => {
  expect(all.filter(({ tags }) => tags[0] === 'Guide').map(({ operationId }) => operationId)).toEqual([
    'getStarted',
    'findOperations',
    'callOperation',
  ])
  expect(document.paths['/sandboxes/{id}'].get.tags).toEqual(['Sandboxes'])
  expect(document.paths['/webhooks'].post.tags).toEqual(['Events'])
})

test('behavior: a VPS is described once, and once with its details, and referred to elsewhere', () => {
  expect(JSON.stringify(document).split('"ssh_ready":{').length - 1).toBe(2)
  expect(document.paths['/services'].get.responses[200].content['application/json'].schema.items).toEqual({
    $ref: '#/components/schemas/VPS',
  })
  expect(document.components.schemas.VPS.properties.ssh_ready).toBeDefined()
  expect(document.components.schemas.Plan.properties.slug.description).toEqual(expect.any(String))
})

test('behavior: no answer describes a shape that another one describes, too', () => {
  const places = new Map<string, string[]>()
  const walk = (value: unknown, place: string) => {
    if (typeof value !== 'object' || value === null) return
    const { type, properties = {} } = value as { type?: string; properties?: object }
    if (type === 'object' && Object.keys(properties).length >= 5) {
      const shape = JSON.stringify(value)
      places.set(shape, [...(places.get(shape) ?? []), place])
    }
    for (const [key, part] of Object.entries(value)) walk(part, `${place} ${key}`)
  }
  for (const { operationId, responses } of all)
    if (!operationId.endsWith('Alias')) walk(responses[200], operationId)
  walk(document.components.schemas, 'components')
  expect([...places.values()].filter(({ length }) => length > 1)).toEqual([])
})

test('behavior: a read that is repeated with its ETag may be answered 304', () => {
  for (const { operationId, responses } of all)
    expect([operationId, '304' in responses]).toEqual([operationId, 'ETag' in responses[200].headers])
})

test('behavior: headers of answers and every webhook are described', () => {
  expect(document.paths['/orders'].post.responses[200].headers).toHaveProperty('Location')
  expect(document.paths['/orders/list'].get.responses[200].headers).toMatchObject({
    Link: { $ref: '#/components/headers/Link' },
    ETag: { $ref: '#/components/headers/ETag' },
  })
  expect(document.paths['/orders'].post.responses[429].headers).toHaveProperty('Retry-After')
  expect(Object.keys(document.webhooks)).toEqual(Object.keys(eventTypes))
})
