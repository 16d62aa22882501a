import type { Handler } from '../../handler.ts'
import { pageOf } from '../../paging.ts'
import { sshKeysOf, sshKeyView } from './ssh-key-store.ts'

export const listSshKeys: Handler<'listSshKeys'> = async ({ input, caller, db }) =>
  pageOf(await sshKeysOf(db, caller.accountId, input.limit, input.cursor), input.limit, sshKeyView)
