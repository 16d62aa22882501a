import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { restoreBackup } from './backup/restore-backup.ts'
import { type Command, RefusedError } from './command.ts'

export const restore: Command = {
  name: 'restore',
  arguments: '<file> --identity <key file>',
  summary: 'Brings database and secrets back from a backup, into an empty data folder and an empty database',
  takes: 1,
  options: { identity: { type: 'string' } },
  async run(operator, [file], { identity }) {
    if (!identity) throw new RefusedError('Name the file of the private key with --identity')
    const { profile, keepSecrets, bareDatabase } = operator.installed
    const restored = await restoreBackup(
      {
        db: await bareDatabase(),
        profile,
        at: operator.clock.now(),
        identity: await readIdentity(identity),
        keepSecrets,
      },
      await open(file!),
    )
    const { tables, rows, madeAt, proof } = restored
    return {
      json: { file, made_at: madeAt, tables, rows, proof },
      text: `${rows} rows of ${tables} tables, as they were at ${madeAt}. Start the service with npm start.
To prove to the installation that made the backup that it can be restored, run there:
  npm run operator -- backup prove ${proof}`,
    }
  },
}

/** The key among the comments that `age-keygen` writes. */
async function readIdentity(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new RefusedError(`The key cannot be read: ${error.message}`)
  })
  const key = text.split('\n').find((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (!key) throw new RefusedError(`${file} has no age private key`)
  return key.trim()
}

async function open(file: string) {
  const stream = createReadStream(file)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve())
    stream.once('error', (error) => reject(new RefusedError(`The backup cannot be read: ${error.message}`)))
  })
  return stream
}
