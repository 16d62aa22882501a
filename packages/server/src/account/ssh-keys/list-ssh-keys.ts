import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { sshKeysOf, sshKeyView } from './ssh-key-store.ts'

export const listSshKeys: Handler<'listSshKeys'> = async ({ input, caller, db }) =>
  pageOf(await sshKeysOf(db, caller.accountId, input.limit, input.cursor), input.limit, sshKeyView)
