import { createHash, timingSafeEqual } from 'node:crypto'
import { Pkcs10CertificateRequest } from '@peculiar/x509'
import { z } from 'zod'
import { inTransaction } from '../database/transaction.ts'
import { registerSandboxHost } from '../hosts/host-store.ts'
import type { Services } from '../platform/services.ts'
import type { Authority } from './authority.ts'
import { admit, endMembership, type Invitation, invitationOf, spendInvitation } from './membership-store.ts'

/** The request of a machine that wants to be a host. */
export const JoinRequest = z.strictObject({
  host: z.string().max(40),
  secret: z.string().max(100),
  /** A request for a certificate (PKCS#10) of a key that was made on the host, in PEM. */
  request: z.string().max(8_000),
})

/** Why a machine cannot join, in words for who sits at it. */
export class JoinRefusedError extends Error {
  override name = 'JoinRefusedError'
}

const INVITE = 'Let the operator of the service make another: npm run operator -- host invite'

/**
 * Makes a machine a host, by the token that its operator was given. A token is good for one key: the machine that did not hear
 * the answer may ask again. A host of this name from before can do nothing any more.
 * @returns the certificate of the host, in PEM
 * @throws JoinRefusedError
 */
export async function acceptJoin(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  authority: Authority,
  { host, secret, request }: z.output<typeof JoinRequest>,
): Promise<string> {
  const { db, clock, log } = services
  const secretHash = createHash('sha256').update(secret).digest()
  const keyHash = hashOfKey(request)
  // Looked at before anything is signed, and again when it is spent.
  demandValid(await invitationOf(db, host), secretHash, keyHash, clock.now())
  const certificate = await authority.sign(request, host).catch((cause) => {
    throw new JoinRefusedError('The request for a certificate is none', { cause })
  })
  await inTransaction(db, async (tx) => {
    demandValid(await invitationOf(tx, host, { lock: true }), secretHash, keyHash, clock.now())
    await registerSandboxHost(tx, host)
    await endMembership(tx, host, { keepsInvitation: true })
    await admit(tx, host, certificate)
    await spendInvitation(tx, host, keyHash)
  })
  log.info({ host }, 'A machine has joined as a sandbox host')
  return certificate.pem
}

function demandValid(
  invitation: Invitation | undefined,
  secretHash: Buffer,
  keyHash: Buffer,
  now: Date,
): asserts invitation is Invitation {
  if (!invitation || !timingSafeEqual(invitation.secret_hash, secretHash))
    throw new JoinRefusedError(`The service knows no such token. ${INVITE}`)
  if (invitation.expires_at <= now)
    throw new JoinRefusedError(`The token is older than 15 minutes. ${INVITE}`)
  if (invitation.used_for && !timingSafeEqual(invitation.used_for, keyHash))
    throw new JoinRefusedError(`Another machine has joined by this token. ${INVITE}`)
}

function hashOfKey(request: string): Buffer {
  try {
    const { rawData } = new Pkcs10CertificateRequest(request).publicKey
    return createHash('sha256').update(Buffer.from(rawData)).digest()
  } catch (cause) {
    throw new JoinRefusedError('The request for a certificate is none', { cause })
  }
}
