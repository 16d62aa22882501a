import { createHash, X509Certificate } from 'node:crypto'
import { encodeJoinToken, isHostId } from '@coinrack/host/join-token.ts'
import { allHosts } from '../hosts/host-overview.ts'
import { SANDBOX_HOST } from '../hosts/host-store.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import { authorityCertificate } from '../sandbox-hosts/authority-store.ts'
import { invite } from '../sandbox-hosts/membership-store.ts'
import { type Command, RefusedError } from './command.ts'

const MINUTES = 15
const SECRET_BYTES = 32

export const hostInvite: Command = {
  name: 'host invite',
  arguments: '<name>',
  summary: 'Makes the one command by which a machine becomes a sandbox host; it is good once, for 15 minutes',
  takes: 1,
  async run(operator, [name]) {
    const db = await operator.db()
    const hostId = name!
    if (!isHostId(hostId) || hostId === LOCAL_HOST)
      throw new RefusedError(
        `${hostId} is no name for a host.\n  Choose up to 31 small letters, digits and hyphens that begin with a letter.`,
      )
    const there = (await allHosts(db)).find(({ id }) => id === hostId)
    if (there && there.kind !== SANDBOX_HOST)
      throw new RefusedError(`${hostId} is a host of machines already.\n  Choose another name.`)
    const certificate = await authorityCertificate(db)
    if (operator.hostsAddresses.length === 0 || certificate === undefined)
      throw new RefusedError(
        'The service takes no sandbox hosts yet.\n  Set COINRACK_HOSTS_LISTEN to an address and port that they reach, and start it again.',
      )
    const secret = Buffer.from(operator.random.bytes(SECRET_BYTES)).toString('base64url')
    const expiresAt = new Date(operator.clock.now().getTime() + MINUTES * 60_000)
    await invite(db, {
      host_id: hostId,
      secret_hash: createHash('sha256').update(secret).digest(),
      expires_at: expiresAt,
    })
    const authority = createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex')
    const token = encodeJoinToken({ hostId, addresses: [...operator.hostsAddresses], secret, authority })
    return {
      json: { id: hostId, token, expires_at: expiresAt.toISOString() },
      text: [
        `On the machine that is to be ${hostId}: a Debian with this software, as root, run once until ${expiresAt.toISOString()}`,
        `  npm run host -- join ${token}`,
        ...(there
          ? [`The machine that is ${hostId} until then is let in no more once another has joined.`]
          : []),
      ].join('\n'),
    }
  },
}
