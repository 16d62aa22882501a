import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { PlainText, paging, Timestamp } from './wire.ts'

const statuses = ['open', 'answered', 'closed'] as const
const Body = z.string().trim().min(1).max(8000)

export const Ticket = z.object({
  id: Id('ticket'),
  subject: z.string(),
  status: z.enum(statuses).describe('answered: it is your turn'),
  service_id: Id('service').nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const TicketDetail = Ticket.extend({
  rating: z.number().int().nullable(),
  messages: z.array(
    z.object({ author: z.enum(['customer', 'operator']), body: z.string(), created_at: Timestamp }),
  ),
})

const ticket = { ticket_id: Id('ticket') }
const example = { ticket_id: 'tkt_01kabcdefghjkmnpqrstvwxyz0' }

export const tickets = {
  createTicket: operation({
    method: 'POST',
    path: '/tickets',
    summary: 'Open a ticket',
    description: 'Opens a ticket with the operator. The reply is an event ticket.replied, and is mailed.',
    access: 'account',
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      subject: PlainText(200).min(1),
      body: Body,
      service_id: Id('service').optional(),
    }),
    output: TicketDetail,
    created: ({ id }) => `/tickets/${id}`,
    errors: ['ticket_limit'],
    example: { subject: 'Reverse DNS', body: 'Please set it to a.example.com.' },
    next: (answer) => [
      { tool: 'get_ticket', why: 'Read the reply later', arguments: { ticket_id: answer.id } },
    ],
  }),
  listTickets: listOperation({
    method: 'GET',
    path: '/tickets',
    summary: 'List tickets',
    description: 'Lists your tickets, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging, status: z.enum(statuses).optional() }),
    output: Ticket,
    errors: [],
    example: {},
  }),
  getTicket: operation({
    method: 'GET',
    path: '/tickets/{id}',
    summary: 'Show a ticket',
    description: 'Shows a ticket with its messages, oldest first.',
    access: 'read',
    rate: 'default',
    resource: 'ticket',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...ticket }),
    output: TicketDetail,
    errors: [],
    example: { ...example },
  }),
  replyTicket: operation({
    method: 'POST',
    path: '/tickets/{id}/replies',
    summary: 'Reply to a ticket',
    description: 'Adds a message to a ticket. A closed ticket is opened again.',
    access: 'account',
    rate: 'default',
    resource: 'ticket',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ ...ticket, body: Body }),
    output: TicketDetail,
    errors: ['ticket_limit'],
    example: { ...example, body: 'Thank you.' },
  }),
  closeTicket: operation({
    method: 'POST',
    path: '/tickets/{id}/close',
    summary: 'Close a ticket',
    description: 'Closes a ticket, with a rating of the help if you give one.',
    access: 'account',
    rate: 'default',
    resource: 'ticket',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...ticket, rating: z.number().int().min(1).max(5).optional() }),
    output: TicketDetail,
    errors: [],
    example: { ...example, rating: 5 },
  }),
}
