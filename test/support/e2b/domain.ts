import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { certificateFor } from '@coinrack/server/account/oauth/testing-certificate.ts'

export const SANDBOX_DOMAIN = 'sandbox.coinrack.test'

/** The names of sandboxes behind a certificate for all of them, as an operator has them, on this computer alone. */
export interface Domain {
  /** Settings of the service. */
  settings: Record<string, string>
  /** For a client: the domain, the authority to trust, and where its names lead. */
  env: Record<string, string>
  close(): Promise<void>
}

/**
 * Takes connections to the names over TLS, and hands what is in them to the service as it comes.
 * @param port a free one
 */
export async function openDomain(port: number, servicePort: number): Promise<Domain> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-domain-'))
  const { key, certificate } = await certificateFor(`*.${SANDBOX_DOMAIN}`)
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, certificate)
  const front = createServer({ key, cert: certificate, ALPNProtocols: ['http/1.1'] }, (client) => {
    const service = connect({ port: servicePort, host: '127.0.0.1' })
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.once('close', () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => front.listen(port, '127.0.0.1', resolve))
  return {
    settings: {
      COINRACK_PUBLIC_URL: `https://service.coinrack.test:${port}`,
      COINRACK_SANDBOX_DOMAIN: SANDBOX_DOMAIN,
    },
    env: {
      E2B_DOMAIN: `${SANDBOX_DOMAIN}:${port}`,
      NODE_EXTRA_CA_CERTS: authority,
      NODE_OPTIONS: `--import ${new URL('names.ts', import.meta.url)}`,
    },
    async close() {
      await new Promise((resolve) => front.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
