import { basePath, type OperationName, operations } from '@coinrack/contract/index.ts'
import type { SignedReceipt } from '@coinrack/contract/receipts.ts'
import { receiptPage } from '@coinrack/web/receipt/page.ts'
import type { FastifyInstance } from 'fastify'
import type { Dispatch } from '../dispatch/dispatch.ts'
import { ask, linkToNext } from './rest.ts'

/** How an answer looks to a client that prefers it so. */
interface Form {
  operation: OperationName
  accept: string
  headers: Record<string, string>
  write(body: Record<string, unknown>): string
}

const forms: Form[] = [
  {
    operation: 'getReceipt',
    accept: 'text/html',
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    },
    write: (body) => receiptPage(body as SignedReceipt),
  },
  {
    operation: 'getStatement',
    accept: 'text/csv',
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="statement.csv"',
    },
    write: ({ csv }) => csv as string,
  },
]

/**
 * Answers of operations in a form of their own, for a client whose Accept names it. Everything is asked of the operation
 * itself, by the same way as any other request; a refusal is JSON.
 */
export function registerContentNegotiation(app: FastifyInstance, dispatch: Dispatch): void {
  const byUrl = new Map(
    forms.map((form) => [basePath + operations[form.operation].path.replace(/{(\w+)}/g, ':$1'), form]),
  )
  app.addHook('preHandler', async (request, reply) => {
    const form = byUrl.get(request.routeOptions.url ?? '')
    if (!form || request.method !== 'GET' || !request.headers.accept?.includes(form.accept)) return
    const { status, body, headers } = await ask(dispatch, form.operation, operations[form.operation], {
      request,
      reply,
    })
    reply.code(status).headers({ 'cache-control': 'no-store', ...headers })
    if (status !== 200) return reply.send(body)
    linkToNext(reply, body)
    return reply.headers(form.headers).send(form.write(body))
  })
}
