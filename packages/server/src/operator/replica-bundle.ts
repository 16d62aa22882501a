import { readFile, stat } from 'node:fs/promises'
import { writeAtomically } from '../data-folder/kept-secret.ts'
import { type Command, RefusedError } from './command.ts'
import { MOST_BYTES, openBundle, sealBundle } from './replica/bundle.ts'
import { collectBundle } from './replica/collect-bundle.ts'
import { keepBundle } from './replica/keep-bundle.ts'

/** 160 bits. */
const PASSPHRASE_BYTES = 20

export const replicaBundle: Command = {
  name: 'replica bundle',
  arguments: '<file>',
  summary: 'Writes settings, secrets and certificates for a replica on another computer to a sealed file',
  takes: 1,
  async run(operator, [file]) {
    const { profile, shared, secrets } = operator.installed
    if (profile !== 'production')
      throw new RefusedError(
        'The demo has chains of its own on this computer: replicas elsewhere need COINRACK_PROFILE=production',
      )
    const { texts, files } = await shared()
    if (!texts.DATABASE_URL)
      throw new RefusedError(
        'The database is inside the data folder: replicas elsewhere need one of their own server, in DATABASE_URL',
      )
    if (await stat(file!).catch(() => undefined)) throw new RefusedError(`${file} is there already`)
    const madeAt = operator.clock.now()
    const collected = await collectBundle(texts, files, await secrets())
    const passphrase = Buffer.from(operator.random.bytes(PASSPHRASE_BYTES))
      .toString('hex')
      .match(/.{8}/g)!
      .join('-')
    const head = { format: 'coinrack replica', version: 1, made_at: madeAt.toISOString() } as const
    const sealed = await sealBundle({ ...head, ...collected }, passphrase)
    await writeAtomically(file!, sealed, 0o600)
    const names = Object.keys(collected.settings).toSorted()
    return {
      json: { file, made_at: madeAt, passphrase, settings: names, files: Object.keys(collected.files) },
      text: `${file} has ${names.length} settings and secrets. Its passphrase is shown this once:
  ${passphrase}
On the other computer, where DATABASE_URL must lead to the same server, write the passphrase to a file and run:
  npm run operator -- replica join ${file} --passphrase <file>`,
    }
  },
}

export const replicaJoin: Command = {
  name: 'replica join',
  arguments: '<file> --passphrase <file>',
  summary: 'Makes an empty data folder that of a replica without machines, from a file of `replica bundle`',
  takes: 1,
  options: { passphrase: { type: 'string' } },
  async run(operator, [file], { passphrase }) {
    if (!passphrase)
      throw new RefusedError(
        'Name the file with the passphrase with --passphrase; /dev/stdin reads it from the input',
      )
    const { dataFolder, prepare } = operator.installed
    const said = (await readInput(passphrase)).toString('utf8').trim()
    const bundle = await openBundle(await readInput(file!), said)
    await prepare()
    await keepBundle(dataFolder, bundle)
    return {
      json: { data_folder: dataFolder, made_at: bundle.made_at, settings: Object.keys(bundle.settings) },
      text: `${dataFolder} is that of a replica. Set COINRACK_REPLICA_ADDRESS, COINRACK_HOST and COINRACK_PORT in its coinrack.env, and run npm start. Remove ${file} and the file with the passphrase.`,
    }
  },
}

async function readInput(path: string): Promise<Buffer> {
  const content = await readFile(path).catch((error: Error) => {
    throw new RefusedError(`It cannot be read: ${error.message}`)
  })
  if (content.length > MOST_BYTES) throw new RefusedError(`${path} is too large for a bundle`)
  return content
}
