import { type Address, getAddress } from 'viem'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import type { Services } from '../platform/services.ts'

/** How long a message can be logged in with. */
const LIFETIME_MS = 300_000
const STATEMENT = 'Log in to your account. This moves no money.'

/** The wallet that is asked to sign, and until when that is good. */
export interface WalletMessage {
  address: Address
  chainId: number
  nonce: string
  expiresAt: Date
}

type About = Pick<Services, 'config' | 'sealer'>

const contextOf = (address: Address, chainId: number) => `wallet-login:${address}:${chainId}`

/**
 * The message that a wallet signs to log in (EIP-4361). All that makes it good is in its nonce, sealed: nothing is stored
 * before it is used.
 */
export function makeWalletMessage(
  services: About & Pick<Services, 'clock'>,
  address: Address,
  chainId: number,
): { message: string; expiresAt: Date } {
  const expiresAt = new Date(services.clock.now().getTime() + LIFETIME_MS)
  const nonce = services.sealer.seal(expiresAt.toISOString(), contextOf(address, chainId)).toString('hex')
  return { message: textOf(services, { address, chainId, nonce, expiresAt }), expiresAt }
}

/** Reads a message back; undefined unless it is, to the letter, one that this service made. */
export function readWalletMessage(services: About, text: string): WalletMessage | undefined {
  const { address, chainId, nonce } = parseSiweMessage(text)
  if (!address || chainId === undefined || !nonce) return undefined
  try {
    const about = { address: getAddress(address), chainId, nonce }
    const sealed = Buffer.from(nonce, 'hex')
    const expiresAt = new Date(services.sealer.open(sealed, contextOf(about.address, chainId)))
    const message = { ...about, expiresAt }
    return textOf(services, message) === text ? message : undefined
  } catch {
    return undefined
  }
}

const textOf = ({ config }: About, { address, chainId, nonce, expiresAt }: WalletMessage) =>
  createSiweMessage({
    address,
    chainId,
    domain: new URL(config.publicUrl).host,
    uri: `${config.publicUrl}/x402/login`,
    version: '1',
    statement: STATEMENT,
    nonce,
    issuedAt: new Date(expiresAt.getTime() - LIFETIME_MS),
    expirationTime: expiresAt,
  })
