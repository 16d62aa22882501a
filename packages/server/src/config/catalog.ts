import { parseUsd } from '@coinrack/contract/wire.ts'
import { z } from 'zod'

const Price = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount > 0n) return amount
  context.addIssue('Expected US dollars above zero, such as "5.00"')
  return z.NEVER
})

const CatalogPlan = z.strictObject({
  slug: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  name: z.string().min(1),
  description: z.string(),
  /** `dedicated`: with an IPv4 address of its own. */
  network: z.enum(['nat', 'dedicated']),
  vcpus: z.number().int().min(1).max(64),
  memory_mb: z.number().int().min(512),
  disk_gb: z.number().int().min(3),
  transfer_gb: z.number().int().min(1),
  /** The number for one machine, at the same time. */
  snapshots: z.number().int().min(0).max(100).default(2),
  /** Per month. */
  price: Price,
  price_hourly: Price,
  /** Image names; all that there are when left out. */
  images: z.array(z.string()).optional(),
})

const CatalogFile = z.strictObject({
  region: z.string().min(1),
  plans: z
    .array(CatalogPlan)
    .min(1)
    .refine((plans) => new Set(plans.map(({ slug }) => slug)).size === plans.length, 'A slug is used twice'),
})

export type CatalogPlan = z.output<typeof CatalogPlan>

export interface Catalog {
  region: string
  plans: CatalogPlan[]
}

/** The plans that can be sold here: without addresses to give, none that comes with one. */
export const sellable = (catalog: Catalog, hosts: { addressPool: unknown[] }[]): Catalog => ({
  ...catalog,
  plans: catalog.plans.filter(
    ({ network }) => network === 'nat' || hosts.some(({ addressPool }) => addressPool.length > 0),
  ),
})

/**
 * Reads what is sold from the text of a catalog file.
 * @throws Error that names each field that is wrong
 */
export function parseCatalog(text: string, path: string): Catalog {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Error(`The catalog ${path} is not JSON: ${(error as Error).message}`)
  }
  const result = CatalogFile.safeParse(json)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`The catalog ${path} does not hold:\n${problems.join('\n')}`)
}
