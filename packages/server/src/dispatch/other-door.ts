import { operations } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { ErrorOptions } from '../platform/errors.ts'

/** The hint beside a 401 for something that can also be bought without an account. */
export const otherDoor = ({ withoutAccount }: Operation): ErrorOptions =>
  withoutAccount === undefined
    ? {}
    : {
        fix: `Send "Authorization: Bearer <token>"; register_account gives a token. Or pay in the same call, without an account: ${toolName(withoutAccount)}, by REST POST ${operations[withoutAccount].path} below the origin.`,
        nextSteps: [
          { tool: 'register_account', why: 'Get a token for a new account' },
          { tool: 'login', why: 'Get a token for an account with a password' },
          { tool: toolName(withoutAccount), why: 'Or buy it with one signed payment, without an account' },
        ],
      }
