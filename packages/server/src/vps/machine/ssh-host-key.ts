import { generateKeyPairSync } from 'node:crypto'
import type { Random } from '../../platform/services.ts'

/** An SSH host key of a machine: made outside, so that the client can know it before it connects. */
export interface SshHostKey {
  /** The text of an OpenSSH private key file. */
  privateKey: string
  /** `ssh-ed25519 <base64>` */
  publicKey: string
}

const TYPE = 'ssh-ed25519'

/** A new Ed25519 key in the format of OpenSSH's PROTOCOL.key, without a passphrase. */
export function makeSshHostKey(random: Random): SshHostKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d!, 'base64url')
  const body = Buffer.concat([sshString(TYPE), sshString(point)])

  // The same number twice shows a reader that it decrypted well.
  const check = Buffer.from(random.bytes(4))
  const secret = Buffer.concat([
    check,
    check,
    sshString(TYPE),
    sshString(point),
    sshString(Buffer.concat([seed, point])),
    sshString(''),
  ])
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1))
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    sshString('none'),
    sshString('none'),
    sshString(''),
    uint32(1),
    sshString(body),
    sshString(Buffer.concat([secret, padding])),
  ])
  const lines = file.toString('base64').match(/.{1,70}/g)!
  return {
    publicKey: `${TYPE} ${body.toString('base64')}`,
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const sshString = (value: string | Buffer) =>
  Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(value)])
