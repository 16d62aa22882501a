import { createClient } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { ask, readAll } from '../ask.ts'
import type { Call } from '../call.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { isRefusal } from '../find.ts'
import { forgetLogin, keepLogin } from '../login-store.ts'

interface Options {
  email?: string
  code?: string
  withToken?: boolean
}

export const login: AddCommands = (program, act) => {
  program
    .command('login')
    .description('log in by a code that is mailed to you, which also makes the account, or with a token')
    .option('--email <address>', 'where the code is sent; the next step is --code')
    .option('--code <code>', 'the code from the mail')
    .option('--with-token', 'read a token from standard input instead')
    .action(act((call, options: Options) => logIn(call, options)))
  program
    .command('logout')
    .description('revoke the token of the login and forget it')
    .option('--keep-token', 'only forget it: it stays good elsewhere')
    .action(act((call, options: { keepToken?: boolean }) => logOut(call, options)))
}

async function logIn(call: Call, { email, code, withToken }: Options): Promise<void> {
  const url = await call.origin()
  const { terminal } = call
  if (withToken) return keep(call, url, (await readAll(terminal)).trim())
  const client = await call.publicClient()
  const address = email ?? (await ask(terminal, 'E-mail address: ', 'give --email, or --with-token'))
  if (code === undefined) {
    const { message } = await client.requestLoginCode({ email: address })
    call.say(message)
    if (email !== undefined && terminal.stdin.isTTY !== true) {
      call.show(
        { sent_to: email },
        () => `Then: coinrack login --url ${url} --email ${email} --code <code from the mail>`,
      )
      return
    }
  }
  const typed = code ?? (await ask(terminal, 'Code from the mail: ', 'give --code'))
  const { token } = await client.verifyLoginCode({ email: address, code: typed })
  await keep(call, url, token)
}

/** Keeps a token that the service knows. */
async function keep(call: Call, url: string, token: string): Promise<void> {
  if (token === '') throw new RefusedError('Standard input had no token', exitCodes.usage)
  const me = await createClient({ url, token }).whoami()
  await keepLogin(call.terminal.env, url, { token, expires_at: me.token.expires_at.toISOString() })
  call.show(
    { url, account_id: me.id, email: me.email, expires_at: me.token.expires_at, scopes: me.token.scopes },
    () =>
      `Logged in at ${url} as ${me.email ?? me.id}, until ${me.token.expires_at.toISOString().slice(0, 10)}`,
  )
}

async function logOut(call: Call, { keepToken }: { keepToken?: boolean }): Promise<void> {
  const url = await call.origin()
  if (!keepToken) {
    const client = await call.client()
    await client
      .whoami()
      .then(({ token }) => client.revokeToken({ token_id: token.id }))
      .catch((error) => {
        // It is no longer good already.
        if (!isRefusal(error, 'unauthorized')) throw error
      })
  }
  const was = await forgetLogin(call.terminal.env, url)
  call.show({ url, logged_out: was }, () => (was ? `Logged out at ${url}` : `There was no login at ${url}`))
}
