// The X.509 library is put together by decorators that keep their metadata with it.
import 'reflect-metadata'
import { createHash, X509Certificate } from 'node:crypto'
import { SERVICE_NAME } from '@coinrack/host/join-token.ts'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  X509Certificate as IssuedCertificate,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { Services } from '../platform/services.ts'
import { keepAuthority } from './authority-store.ts'

/** The parts of the service that an authority needs. */
type World = Pick<Services, 'db' | 'sealer' | 'clock' | 'random'>

/** A certificate that was signed now. */
export interface HostCertificate {
  pem: string
  /** In hexadecimal, as the certificate says it. */
  serial: string
  issuedAt: Date
  expiresAt: Date
}

/** The authority that vouches for the service to its hosts, and for hosts to the service. */
export interface Authority {
  /** Its own certificate, in PEM. */
  certificate: string
  /** The SHA-256 of that, as tokens carry it. */
  fingerprint: string
  /**
   * Signs the certificate of a host.
   * @param request as PKCS#10, in PEM
   * @throws Error when it is none, or not of the key that it names
   */
  sign(request: string, hostId: string): Promise<HostCertificate>
  /** A new key and its certificate, by which hosts know the service, with the authority's behind it. Both in PEM. */
  serverIdentity(): Promise<{ key: string; cert: string }>
  /**
   * The host that a certificate names, where the authority signed it for one, and it is good now.
   * @param der as the other end of a connection has shown that it has the key
   */
  read(der: Buffer): { hostId: string; serial: string } | undefined
}

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const
const NAME = 'CN=Coinrack host authority'
const CONTEXT = 'host-authority'
const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 20 * 365
/** A service that runs for longer than this has to be started again. */
const SERVER_DAYS = 5 * 365
/** How long a host that was not reached can come back without joining anew. */
const HOST_DAYS = 1
/** The clocks of hosts may be behind by so much. */
const SKEW_MS = 5 * 60_000
const SERIAL_BYTES = 16

/** Opens the authority of the installation, and makes it first if there is none. Replicas have the same one. */
export async function openAuthority({ db, sealer, clock, random }: World): Promise<Authority> {
  const validity = (days: number) => {
    const now = clock.now().getTime()
    return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY_MS) }
  }
  // The first bit is zero, since a serial number is not negative, and the next one is not, so that all are of one length.
  const newSerial = () => {
    const bytes = Buffer.from(random.bytes(SERIAL_BYTES))
    bytes[0] = (bytes[0]! & 0x3f) | 0x40
    return bytes.toString('hex')
  }
  const newKeys = () => crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])

  const kept = await keepAuthority(db, async () => {
    const keys = await newKeys()
    const made = await X509CertificateGenerator.createSelfSigned({
      serialNumber: newSerial(),
      name: NAME,
      ...validity(AUTHORITY_DAYS),
      signingAlgorithm: SIGNATURE,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    })
    return {
      certificate: made.toString('pem'),
      sealed_key: sealer.seal(await exportKey(keys.privateKey), CONTEXT),
    }
  })
  const own = new X509Certificate(kept.certificate)
  const issuer = new IssuedCertificate(kept.certificate).subject
  const signingKey = await crypto.subtle.importKey(
    'pkcs8',
    Buffer.from(sealer.open(kept.sealed_key, CONTEXT), 'base64'),
    CURVE,
    false,
    ['sign'],
  )
  const issue = async (publicKey: CryptoKey, name: string, usage: ExtendedKeyUsage, days: number) => {
    const serial = newSerial()
    const { notBefore, notAfter } = validity(days)
    const made = await X509CertificateGenerator.create({
      serialNumber: serial,
      subject: `CN=${name}`,
      issuer,
      notBefore,
      notAfter,
      publicKey,
      signingKey,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([usage], true),
        new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
      ],
    })
    return { pem: made.toString('pem'), serial, issuedAt: clock.now(), expiresAt: notAfter }
  }

  return {
    certificate: kept.certificate,
    fingerprint: createHash('sha256').update(own.raw).digest('hex'),

    async sign(request, hostId) {
      const csr = new Pkcs10CertificateRequest(request)
      if (!(await csr.verify())) throw new Error('The request is not signed by its own key')
      const key = await csr.publicKey.export(CURVE, ['verify'])
      return issue(key, hostId, ExtendedKeyUsage.clientAuth, HOST_DAYS)
    },

    async serverIdentity() {
      const keys = await newKeys()
      const { pem } = await issue(keys.publicKey, SERVICE_NAME, ExtendedKeyUsage.serverAuth, SERVER_DAYS)
      const key = `-----BEGIN PRIVATE KEY-----\n${await exportKey(keys.privateKey)}\n-----END PRIVATE KEY-----\n`
      return { key, cert: `${pem}\n${kept.certificate}` }
    },

    read(der) {
      const shown = new X509Certificate(der)
      const now = clock.now()
      const hostId = /^DNS:([a-z0-9.-]+)$/.exec(shown.subjectAltName ?? '')?.[1]
      const isOurs = shown.checkIssued(own) && shown.verify(own.publicKey)
      const isNow = shown.validFromDate <= now && now < shown.validToDate
      const isHost = shown.keyUsage?.join() === CLIENT_AUTH
      if (!isOurs || !isNow || !isHost || hostId === undefined) return undefined
      return { hostId, serial: shown.serialNumber.toLowerCase() }
    },
  }
}

/** TLS client authentication, as Node names it (RFC 5280, 4.2.1.12). */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

const exportKey = async (key: CryptoKey): Promise<string> =>
  Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
