import type { CallToolResult } from '@modelcontextprotocol/server'
import { unknownOperation } from '../../dispatch/call-by-name.ts'
import { errorBody } from '../../platform/errors.ts'
import { failure } from './tool-result.ts'

/** The result of a call of a tool that does not exist. */
export function unknownTool(name: string, requestId: string): CallToolResult {
  return failure(errorBody(unknownOperation(name), requestId))
}
