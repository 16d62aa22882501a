import { createHash } from 'node:crypto'
import { copiedExample, isExampleSshKey } from './documentation-examples.ts'

/** Curves of RFC 5656 by the name that a key of theirs carries. */
const CURVES = new Set(['nistp256', 'nistp384', 'nistp521'])
const SMALLEST_RSA = 2048

export type KeyVerdict = { line: string } | { refused: string }

/**
 * Judges an SSH public key as a line of `authorized_keys` without options: its type, and that its body is a
 * whole key of that type (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4, OpenSSH PROTOCOL.u2f).
 * @returns the line as it is stored: type, body and comment
 */
export function judgeSshKey(text: string): KeyVerdict {
  const line = text.trim()
  if (/[\u0000-\u001f\u007f]/.test(line)) return { refused: 'An SSH key is one line of text' }
  const [type = '', body = '', ...comment] = line.split(/ +/)
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body))
    return { refused: 'This is not a public key: expected "type base64 comment"' }
  const bytes = Buffer.from(body, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== body.replace(/=+$/, '')) {
    return { refused: 'The body of the key is not whole base64' }
  }
  const parts = readStrings(bytes)
  if (!parts || parts[0]?.toString() !== type)
    return { refused: 'The key is cut off, or its type does not match its body' }
  const why = whyBad(type, parts.slice(1))
  if (why) return { refused: why }
  const whole = [type, body, ...comment].join(' ')
  return isExampleSshKey(whole)
    ? { refused: copiedExample('the key', 'the public key of a pair that you have') }
    : { line: whole }
}

/** The fingerprint of a whole key, as `ssh-keygen -l` writes it: `SHA256:` and unpadded base64. */
export const sshFingerprint = (line: string) =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(line.split(' ')[1]!, 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

function whyBad(type: string, parts: Buffer[]): string | undefined {
  const broken = `The key is no whole ${type} key`
  switch (type) {
    case 'ssh-ed25519':
      return parts.length === 1 && parts[0]!.length === 32 ? undefined : broken
    case 'sk-ssh-ed25519@openssh.com':
      return parts.length === 2 && parts[0]!.length === 32 ? undefined : broken
    case 'ssh-rsa': {
      if (parts.length !== 2) return broken
      const bits = bitLength(parts[1]!)
      return bits >= SMALLEST_RSA
        ? undefined
        : `An RSA key needs ${SMALLEST_RSA} bits or more; this one has ${bits}`
    }
    case 'sk-ecdsa-sha2-nistp256@openssh.com':
      return parts.length === 3 && isPoint('nistp256', parts[0]!, parts[1]!) ? undefined : broken
  }
  const curve = /^ecdsa-sha2-(\w+)$/.exec(type)?.[1]
  if (!curve || !CURVES.has(curve)) return `Keys of type ${type.slice(0, 40)} are not accepted`
  return parts.length === 2 && isPoint(curve, parts[0]!, parts[1]!) ? undefined : broken
}

/** An uncompressed point of the curve that is named before it. */
const isPoint = (curve: string, name: Buffer, point: Buffer) =>
  name.toString() === curve &&
  point.length === 1 + 2 * Math.ceil(Number(curve.slice('nistp'.length)) / 8) &&
  point[0] === 4

/** Length-prefixed strings to the very end; undefined when a length and the bytes disagree. */
function readStrings(bytes: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = []
  let offset = 0
  while (offset < bytes.length) {
    if (offset + 4 > bytes.length) return undefined
    const end = offset + 4 + bytes.readUInt32BE(offset)
    if (end > bytes.length) return undefined
    parts.push(bytes.subarray(offset + 4, end))
    offset = end
  }
  return parts
}

function bitLength(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (number.length - first - 1) * 8 + (32 - Math.clz32(number[first]!))
}
