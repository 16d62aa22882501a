import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody, OperationError } from '../../platform/errors.ts'
import { failure } from './tool-result.ts'

/** The result of a call of a tool that does not exist. */
export function unknownTool(name: string, requestId: string): CallToolResult {
  const error = new OperationError('not_found', `There is no tool ${name.slice(0, 100)}`, {
    nextSteps: [{ tool: 'get_started', why: 'See what there is' }],
  })
  return failure(errorBody(error, requestId))
}
