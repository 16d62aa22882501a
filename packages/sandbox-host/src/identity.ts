// The X.509 library is put together by decorators that keep their metadata with it.
import 'reflect-metadata'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { z } from 'zod'

/*
 * The identity of this host: its key, which leaves it never, and what the service has signed for it. One file, 0600.
 */

const Identity = z.object({
  hostId: z.string(),
  /** PKCS#8, in PEM. */
  key: z.string(),
  /** In PEM. */
  certificate: z.string(),
  /** The certificate of the service's authority, in PEM. */
  authority: z.string(),
  /** Where the service is, each `host:port`. */
  services: z.array(z.string()).min(1),
})
export type Identity = z.output<typeof Identity>

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const

/** A key of this host, and a request for a certificate of it (PKCS#10). Both in PEM. */
export interface RequestedKey {
  key: string
  request: string
}

export async function requestKey(hostId: string): Promise<RequestedKey> {
  const keys = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: `CN=${hostId}`,
    keys,
    signingAlgorithm: SIGNATURE,
  })
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`
  return { key, request: request.toString('pem') }
}

/** The SHA-256 of a certificate, in hexadecimal. */
export const fingerprintOf = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex')

/** When a certificate ends. */
export const expiryOf = (pem: string): Date => new X509Certificate(pem).validToDate

/** Undefined for a machine that has not joined. */
export async function readIdentity(file: string): Promise<Identity | undefined> {
  const kept = await readKept(file)
  return kept === undefined ? undefined : Identity.parse(kept)
}

export const writeIdentity = (file: string, identity: Identity): Promise<void> => writeKept(file, identity)

/**
 * The key to join with by a token. It is kept until the machine has joined: asked again with the same key, after an answer that
 * was lost, the service takes the token again.
 */
export async function keyToJoin(file: string, hostId: string, secret: string): Promise<RequestedKey> {
  const kept = JoinKey.safeParse(await readKept(file))
  if (kept.success && kept.data.secret === secret) return kept.data
  const made = await requestKey(hostId)
  await writeKept(file, { ...made, secret })
  return made
}

const JoinKey = z.object({ key: z.string(), request: z.string(), secret: z.string() })

async function readKept(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return text === undefined ? undefined : JSON.parse(text)
}

async function writeKept(file: string, content: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o711 })
  const part = await open(`${file}.part`, 'w', 0o600)
  try {
    await part.writeFile(JSON.stringify(content))
    await part.sync()
  } finally {
    await part.close()
  }
  await rename(`${file}.part`, file)
}
