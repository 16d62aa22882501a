import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { ImageRefusedError } from './added-image.ts'

const BEGIN_SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----'
const KEY_BLOCK =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[\w-]+:.*\r?\n)*\r?\n([\s\S]+?)-----END PGP PUBLIC KEY BLOCK-----/g
const KEYBOX = 'KBXf'
/** OpenPGP packets begin with this bit; the type of the first one has to be a public key. */
const PACKET = 0x80
const PUBLIC_KEY = 6

/**
 * Checks a file, or its bytes, against a detached signature, with gpgv.
 * @param keyring the text or bytes of the publisher's public keys
 * @returns the fingerprint of the key that signed it
 * @throws ImageRefusedError unless a key of the ring made a good signature
 */
export async function checkDetached(
  signed: string | Uint8Array,
  signature: Uint8Array,
  keyring: Uint8Array,
): Promise<string> {
  return withFolder(async (folder) => {
    const signatureFile = join(folder, 'signature')
    await writeFile(signatureFile, signature)
    const file = typeof signed === 'string' ? signed : join(folder, 'signed')
    if (typeof signed !== 'string') await writeFile(file, signed)
    return gpgv(folder, keyring, [signatureFile, file])
  })
}

/**
 * Checks a text that carries its signature inside.
 * @returns only what was signed: anybody can write around it
 */
export async function checkClearSigned(
  signed: Uint8Array,
  keyring: Uint8Array,
): Promise<{ signedBy: string; text: string }> {
  if (!Buffer.from(signed).toString('latin1').includes(BEGIN_SIGNED))
    throw new ImageRefusedError('The list of checksums carries no signature: name one with --signature')
  return withFolder(async (folder) => {
    const [file, textFile] = [join(folder, 'signed'), join(folder, 'text')]
    await writeFile(file, signed)
    const signedBy = await gpgv(folder, keyring, ['--output', textFile, file])
    return { signedBy, text: await readFile(textFile, 'utf8') }
  })
}

async function gpgv(folder: string, keyring: Uint8Array, args: string[]): Promise<string> {
  const ring = join(folder, 'keyring')
  await writeFile(ring, readKeyring(keyring))
  const options = ['--homedir', folder, '--keyring', ring, '--weak-digest', 'SHA1', '--status-fd', '1']
  const lines: string[] = []
  try {
    await runCommand('gpgv', [...options, ...args], { onLine: (line) => lines.push(line) })
  } catch (error) {
    // It also fails when one of two signatures is of a key that the ring does not have; the lines tell.
    if (!(error instanceof CommandError) || error.exitCode === null) throw error
  }
  const signedBy = goodSignature(lines)
  if (signedBy) return signedBy
  const said = lines.filter((line) => line.startsWith('gpgv: ')).map((line) => line.slice('gpgv: '.length))
  throw new ImageRefusedError(`The signature is not good: ${said.join('; ') || 'gpgv says nothing'}`)
}

/** The fingerprint of the primary key of a good signature in gpgv's status lines, when there is no bad one beside it. */
export function goodSignature(lines: string[]): string | undefined {
  const words = lines.flatMap((line) => {
    const found = /^\[GNUPG:\] (.*)/.exec(line)?.[1]
    return found === undefined ? [] : [found.split(' ')]
  })
  if (words.some(([what]) => what === 'BADSIG')) return undefined
  let isGood = false
  for (const [what, ...rest] of words) {
    if (what === 'NEWSIG') isGood = false
    // Expired and revoked keys are reported by other words.
    if (what === 'GOODSIG') isGood = true
    if (what === 'VALIDSIG' && isGood) return rest[9] ?? rest[0]
  }
  return undefined
}

/** The keys as gpgv reads them: without ASCII armor. */
export function readKeyring(bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes)
  const blocks = [...buffer.toString('latin1').matchAll(KEY_BLOCK)]
  if (blocks.length > 0)
    return Buffer.concat(
      // The last line of a block is a sum for human errors, after "=".
      blocks.map(([, body]) => Buffer.from(body!.replace(/\r?\n=[\w+/]{4}\s*$/, ''), 'base64')),
    )
  const first = buffer[0] ?? 0
  const type = first & 0x40 ? first & 0x3f : (first >> 2) & 0x0f
  if (first & PACKET && type === PUBLIC_KEY) return buffer
  if (buffer.toString('latin1', 8, 12) === KEYBOX) return buffer
  throw new ImageRefusedError('The key file holds no OpenPGP public key')
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-gpgv-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
