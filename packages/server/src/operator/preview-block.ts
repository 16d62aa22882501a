import { isId } from '@coinrack/contract/ids.ts'
import { announce } from '../database/changes.ts'
import { inTransaction, type Transaction } from '../database/transaction.ts'
import { type Command, type Operator, RefusedError } from './command.ts'

const LONGEST_REASON = 200

export const previewBlock: Command = {
  name: 'preview block',
  arguments: '<url|port-sandbox> --reason <text>',
  summary:
    'Takes the URL of a port of a sandbox off, at once; its owner reads the reason and cannot expose it again',
  takes: 1,
  options: { reason: { type: 'string' } },
  async run(operator, [which], { reason = '' }) {
    const text = reason.trim()
    if (text === '' || text.length > LONGEST_REASON)
      throw new RefusedError(
        `--reason has 1 to ${LONGEST_REASON} characters; the owner of the sandbox reads it`,
      )
    const { sandboxId, port } = await change(operator, which!, (tx, preview) =>
      tx.query(
        `insert into preview_block (sandbox_id, port, reason, blocked_at) values ($1, $2, $3, $4)
         on conflict (sandbox_id, port) do update set reason = excluded.reason`,
        [preview.sandboxId, preview.port, text, operator.clock.now()],
      ),
    )
    return {
      json: { sandbox_id: sandboxId, port, blocked: text },
      text: `Port ${port} of ${sandboxId} is no longer reachable`,
    }
  },
}

export const previewUnblock: Command = {
  name: 'preview unblock',
  arguments: '<url|port-sandbox>',
  summary: 'Ends a block; a port that is still exposed is reached again',
  takes: 1,
  async run(operator, [which]) {
    const { sandboxId, port } = await change(operator, which!, async (tx, preview) => {
      const { rowCount } = await tx.query('delete from preview_block where sandbox_id = $1 and port = $2', [
        preview.sandboxId,
        preview.port,
      ])
      if (rowCount === 0)
        throw new RefusedError(`Port ${preview.port} of ${preview.sandboxId} is not blocked`)
    })
    return {
      json: { sandbox_id: sandboxId, port, blocked: null },
      text: `Port ${port} of ${sandboxId} is no longer blocked`,
    }
  },
}

interface Preview {
  sandboxId: string
  port: number
}

/** Changes what holds for a preview. The services look at once at the connections that they carry. */
async function change(
  operator: Operator,
  which: string,
  work: (tx: Transaction, preview: Preview) => Promise<unknown>,
): Promise<Preview> {
  const preview = previewOf(which)
  await inTransaction(await operator.db(), async (tx) => {
    const { rowCount } = await tx.query('select from sandbox where id = $1', [preview.sandboxId])
    if (rowCount === 0) throw new RefusedError(`There is no sandbox ${preview.sandboxId}`)
    await work(tx, preview)
    await announce(tx, preview.sandboxId)
  })
  return preview
}

/** Either form of its URL, or the label of its name, `8000-sbx...`. */
function previewOf(text: string): Preview {
  const match =
    /^(?:https?:\/\/)?(\d{1,5})-(sbx[0-9a-z]{26})(?:[.:/].*)?$/i.exec(text) ??
    /^.*\/preview\/(?<id>sbx[0-9a-z]{26})\/(?<port>\d{1,5})(?:[/?].*)?$/.exec(text)
  const [port, id] = match?.groups ? [match.groups.port, match.groups.id] : [match?.[1], match?.[2]]
  const preview = { sandboxId: (id ?? '').toLowerCase(), port: Number(port) }
  if (isId('sandbox', preview.sandboxId) && preview.port >= 1 && preview.port <= 65_535) return preview
  throw new RefusedError(`${text} is not the URL of a preview, nor of the form 8000-sbx...`)
}
