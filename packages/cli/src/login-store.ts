import { join } from 'node:path'
import { configFolder, readPrivate, writePrivate } from './config-folder.ts'
import { RefusedError } from './exit-codes.ts'

/** What is kept of a login at one service. */
export interface Login {
  token: string
  /** RFC 3339; null for a token of which that is not known. */
  expires_at: string | null
}

interface Logins {
  /** The origin of the service that commands go to. */
  current: string | null
  /** By the origin of the service, so that a token is sent nowhere else. */
  logins: Record<string, Login>
}

type Env = Record<string, string | undefined>

const fileOf = (env: Env) => join(configFolder(env), 'logins.json')

/** The logins that are kept, none at first. */
export async function readLogins(env: Env): Promise<Logins> {
  const path = fileOf(env)
  const text = await readPrivate(path)
  if (text === undefined) return { current: null, logins: {} }
  try {
    const { current, logins } = JSON.parse(text) as Logins
    if (typeof logins !== 'object' || logins === null) throw new TypeError('It has no logins')
    return { current, logins }
  } catch {
    throw new RefusedError(`${path} is damaged: remove it, and log in again`)
  }
}

/** Keeps a login, and makes its service the current one. */
export async function keepLogin(env: Env, origin: string, login: Login): Promise<void> {
  const { logins } = await readLogins(env)
  await write(env, { current: origin, logins: { ...logins, [origin]: login } })
}

/** Forgets the login at a service. @returns false when there was none */
export async function forgetLogin(env: Env, origin: string): Promise<boolean> {
  const { current, logins } = await readLogins(env)
  if (!(origin in logins)) return false
  const { [origin]: _gone, ...others } = logins
  await write(env, {
    current: current === origin ? (Object.keys(others)[0] ?? null) : current,
    logins: others,
  })
  return true
}

const write = (env: Env, logins: Logins) => writePrivate(fileOf(env), `${JSON.stringify(logins, null, 2)}\n`)
