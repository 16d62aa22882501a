import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { Sandbox, Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { findVps, isSandbox } from '../find.ts'
import { keepHostKeys, runHere, strictOptions } from '../ssh-access.ts'

interface Place {
  /** The name of a machine; undefined for this computer. */
  machine: string | undefined
  path: string
}

export const copy: AddCommands = (program, act) => {
  program
    .command('cp')
    .description('copy files to or from a VPS (by scp) or a sandbox: one side is NAME:PATH')
    .argument('<from>')
    .argument('<to>')
    .option('-r, --recursive', 'folders too, of a VPS')
    .option('-i, --identity <file>', 'the private key for a VPS')
    .action(
      act((call, from: string, to: string, options: { recursive?: boolean; identity?: string }) => {
        const [source, target] = [placeOf(from), placeOf(to)]
        if ((source.machine === undefined) === (target.machine === undefined))
          throw new RefusedError('One of the two is NAME:PATH, and the other a path here', exitCodes.usage)
        const machine = (source.machine ?? target.machine)!
        return isSandbox(machine)
          ? copySandbox(call, machine, source, target, options)
          : copyVps(call, machine, [source, target], options)
      }),
    )
}

/** A colon after a slash is one of a path. */
function placeOf(text: string): Place {
  const [, machine, path] = /^([^/:]+):(.*)$/s.exec(text) ?? []
  return machine === undefined ? { machine: undefined, path: text } : { machine, path: path! }
}

async function copyVps(
  call: Call,
  name: string,
  places: Place[],
  { recursive, identity }: { recursive?: boolean; identity?: string },
): Promise<number> {
  const vps = await findVps(await call.client(), name)
  const access = await Vps.connect(await call.service(), vps.id).ssh()
  const knownHosts = await keepHostKeys(call.terminal.env, vps.id, access.knownHosts)
  return runHere(call.terminal, 'scp', [
    ...strictOptions(knownHosts),
    ...['-P', String(access.port), ...(recursive ? ['-r'] : []), ...(identity ? ['-i', identity] : [])],
    '--',
    ...places.map(({ machine, path }) =>
      machine === undefined ? hereForScp(path) : `${access.username}@${access.host}:${path}`,
    ),
  ])
}

/** A path that scp does not take for a host. */
const hereForScp = (path: string) => (path.includes(':') && !path.startsWith('/') ? `./${path}` : path)

async function copySandbox(
  call: Call,
  id: string,
  from: Place,
  to: Place,
  { recursive }: { recursive?: boolean },
): Promise<void> {
  if (recursive)
    throw new RefusedError('Folders of a sandbox are copied as one file, by tar', exitCodes.usage)
  const { files } = Sandbox.connect(await call.service(), id)
  const { signal } = call.terminal
  if (from.machine === undefined) {
    const found = await stat(from.path).catch((error: Error) => {
      throw new RefusedError(`Cannot read ${from.path}: ${error.message}`)
    })
    if (!found.isFile()) throw new RefusedError(`${from.path} is not a file`, exitCodes.usage)
    const path = /(^|\/)$/.test(to.path) ? `${to.path}${basename(from.path)}` : to.path
    const content = Readable.toWeb(createReadStream(from.path)) as ReadableStream<Uint8Array>
    const size = await files.write(path, content, { signal })
    call.show({ path, size }, () => `${size} bytes to ${path}`)
    return
  }
  const isFolder = await stat(to.path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const path = isFolder ? join(to.path, basename(from.path)) : to.path
  const content = await files.stream(from.path, { signal })
  await pipeline(Readable.fromWeb(content as NodeReadableStream), createWriteStream(path), { signal })
  const { size } = await stat(path)
  call.show({ path, size }, () => `${size} bytes to ${path}`)
}
