import { z } from 'zod'

/** A schema as JSON Schema (2020-12) of its wire form: what a client sends and receives. */
export function wireSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', reused: 'inline' })
  return rest
}
