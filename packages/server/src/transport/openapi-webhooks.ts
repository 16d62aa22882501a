import { eventTypes } from '@coinrack/contract/events.ts'
import { wireSchema } from './wire-schema.ts'

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

/** Signed as in Standard Webhooks, https://www.standardwebhooks.com. */
const parameters = [
  header('webhook-id', 'The id of the event, the same at each attempt'),
  header('webhook-timestamp', 'Unix seconds of the attempt'),
  header('webhook-signature', 'v1, and the HMAC of id, timestamp and body with the secret of the webhook'),
]

/** The bodies that are posted to webhooks, by the type of the event. */
export function describeWebhooks(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(eventTypes).map(([type, data]) => [
      type,
      {
        post: {
          operationId: `on.${type}`,
          summary: `The event ${type}`,
          tags: ['Events'],
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    type: { const: type },
                    timestamp: { type: 'string', format: 'date-time' },
                    id: { type: 'string' },
                    position: { type: 'integer', description: 'In the account, without gaps' },
                    data: wireSchema(data),
                  },
                  required: ['type', 'timestamp', 'id', 'position', 'data'],
                },
              },
            },
          },
          responses: {
            '2XX': { description: 'Taken; any other answer makes it come again' },
            410: { description: 'Gone: the webhook is disabled' },
          },
        },
      },
    ]),
  )
}
