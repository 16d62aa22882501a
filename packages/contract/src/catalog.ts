import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { PlainText, Timestamp, Usd } from './wire.ts'

export const OsImage = z.object({
  os_id: z.number().int(),
  name: z.string(),
  distribution: z.string(),
  version: z.string(),
  arch: z.string(),
  available: z.boolean(),
})

export const Plan = z.object({
  slug: z.string().describe('Send it as "product" when ordering'),
  name: z.string(),
  description: z.string(),
  network: z.enum(['nat', 'dedicated']).describe('dedicated: an IPv4 address of its own'),
  vcpus: z.number(),
  memory_mb: z.number().int(),
  disk_gb: z.number().int(),
  transfer_gb: z.number().int(),
  snapshots: z.number().int().describe('How many can be kept of a VPS'),
  price: Usd.describe('Per month'),
  price_hourly: Usd,
  currency: z.literal('USD'),
  regions: z.array(z.string()),
  features: z
    .record(z.string(), z.array(z.string()))
    .describe('By region: the features that every VPS of the plan has there'),
  available: z.boolean(),
  os_images: z.array(OsImage),
})

const Review = z.object({
  id: Id('review'),
  author: z.string(),
  rating: z.number().int(),
  title: z.string().nullable(),
  body: z.string(),
  created_at: Timestamp,
})

export const catalog = {
  listPlans: listOperation({
    method: 'GET',
    path: '/products',
    everyday: true,
    summary: 'List VPS plans and prices',
    description: 'Lists every plan with its specification, its price in USD and the OS images it supports.',
    access: 'public',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: Plan,
    errors: [],
    example: {},
    next: () => [
      { tool: 'register_account', why: 'Get a token, if you have none' },
      { tool: 'order_vps', why: 'Order a plan with your token' },
    ],
  }),
  listReviews: operation({
    method: 'GET',
    path: '/reviews',
    summary: 'List reviews',
    description:
      'Lists the approved reviews of customers, with the average rating, the count and the distribution.',
    access: 'public',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({
      rating: z.object({
        average: z.number().nullable().describe('1 to 5, or null when there is no review'),
        count: z.number().int(),
        distribution: z.record(z.string(), z.number().int()),
      }),
      reviews: z.array(Review),
    }),
    errors: [],
    example: {},
  }),
  submitReview: operation({
    method: 'POST',
    path: '/reviews',
    summary: 'Review the service',
    description:
      'Submits the review of your account, which is possible once, after a paid order. It is shown when the operator has approved it.',
    access: 'account',
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      rating: z.number().int().min(1).max(5),
      title: PlainText(120).optional(),
      body: z.string().trim().min(1).max(4000),
      author: PlainText(60).optional().describe('The name to show; default: Customer'),
    }),
    output: z.object({ id: Id('review'), status: z.literal('pending') }),
    errors: ['review_exists', 'review_needs_order'],
    example: { rating: 5, title: 'Fast', body: 'Inside the machine in seconds.' },
  }),
}
