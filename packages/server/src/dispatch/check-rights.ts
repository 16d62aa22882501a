import type { OperationName } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { Config } from '../config/config.ts'
import { OperationError } from '../platform/errors.ts'
import type { Caller } from './handler.ts'

/**
 * Checks what a token may do with an operation: the account is not suspended, the token is of a kind that may call it, and
 * has its scope.
 * @throws OperationError `account_suspended`, `closed_to_token`, `scope_missing`
 */
export function checkRights(name: OperationName, op: Operation, caller: Caller): void {
  if (caller.suspended) throw new OperationError('account_suspended', 'The account is suspended')
  checkKind(name, op, caller)
  if (op.access !== 'public' && op.access !== 'any' && !caller.scopes.includes(op.access)) {
    throw new OperationError('scope_missing', `The token lacks the scope "${op.access}"`, {
      fields: { scope: op.access },
    })
  }
}

/** @throws OperationError `closed_to_token` */
export function checkKind(name: OperationName, op: Operation, { kind }: Caller): void {
  if (kind === 'plain' || !op.closedTo?.includes(kind)) return
  const tool = toolName(name)
  throw kind === 'program'
    ? new OperationError('closed_to_token', `A program cannot call ${tool}`, {
        fix: `Call ${tool} outside of the program, with the token that started it.`,
        nextSteps: [{ tool, why: 'Call it outside of the program' }],
        fields: { kind },
      })
    : new OperationError('closed_to_token', `An application that was let in by OAuth cannot call ${tool}`, {
        nextSteps: [{ tool: 'whoami', why: 'See what this application may do, and its budget' }],
        fields: { kind },
      })
}

/**
 * A text of a grant counts at the address that it was issued for, and nowhere else; no other token counts there
 * (RFC 8707, section 2; MCP authorization, "Token Audience Binding and Validation").
 * @throws OperationError `wrong_audience`
 */
export function checkAudience({ publicUrl }: Config, { kind }: Caller, forGrants: boolean): void {
  if ((kind === 'grant') === forGrants) return
  throw forGrants
    ? new OperationError('wrong_audience', 'This address takes no tokens but those that it issued by OAuth', {
        fix: `Use this token at ${publicUrl}/mcp or by REST.`,
      })
    : new OperationError('wrong_audience', `The token was issued for ${publicUrl}/mcp/connect alone`, {
        fix: `Use it at ${publicUrl}/mcp/connect. For REST and ${publicUrl}/mcp the owner of the account gets a token by logging in, or by create_token.`,
      })
}
