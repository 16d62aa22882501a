import { randomBytes } from 'node:crypto'

/** A whole SSH key that nobody has. */
export const newSshKey = () => {
  const body = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    randomBytes(32),
  ])
  return `ssh-ed25519 ${body.toString('base64')} of-a-test`
}
