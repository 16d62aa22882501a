import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { noteBackup, proveBackup } from './backup/proven-backup.ts'
import { writeBackup } from './backup/write-backup.ts'
import { type Command, RefusedError } from './command.ts'

const PROOF_BYTES = 10

export const backup: Command = {
  name: 'backup',
  arguments: '<file> --to <age1...>',
  summary: 'Writes the database and the secrets to a file that only the owner of an age key can open',
  takes: 1,
  options: { to: { type: 'string' } },
  async run(operator, [file], { to: recipient }) {
    if (!recipient) {
      throw new RefusedError(
        'Name a public key with --to, such as age-keygen makes on another machine: its private half must not be here',
      )
    }
    if (await stat(file!).catch(() => undefined)) throw new RefusedError(`${file} is there already`)
    const db = await operator.db()
    const { profile, secrets } = operator.installed
    const unfinished = `${file}.unfinished`
    const madeAt = operator.clock.now()
    const proof = Buffer.from(operator.random.bytes(PROOF_BYTES)).toString('hex')
    const of = {
      databaseUrl: db.options.connectionString!,
      profile,
      secrets: await secrets(),
      madeAt,
      proof,
      recipient,
    }
    try {
      await noteBackup(db, of)
      const { tables, rows } = await writeBackup(
        of,
        createWriteStream(unfinished, { mode: 0o600, flush: true }),
      )
      await rename(unfinished, file!)
      return {
        json: { file, made_at: madeAt, tables, rows },
        text: `${file}: ${rows} rows of ${tables} tables, and the secrets. Disks of machines are not in it`,
      }
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  },
}

export const backupProve: Command = {
  name: 'backup prove',
  arguments: '<code>',
  summary: 'Notes that a backup was restored: by the code that `restore` prints at its end',
  takes: 1,
  async run(operator, [proof]) {
    const madeAt = await proveBackup(await operator.db(), proof!, operator.clock.now())
    if (!madeAt) throw new RefusedError('No backup with this code was made here')
    return {
      json: { made_at: madeAt },
      text: `The backup of ${madeAt.toISOString()} can be restored`,
    }
  },
}
