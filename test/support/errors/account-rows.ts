import { ChainUnavailableError } from '@coinrack/server/chain/chain-port.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { newSshKey } from '../new-ssh-key.ts'
import type { Row } from './walk.ts'
import type { Buyer, ErrorWorld } from './world.ts'

const PASSWORD = 'a long password of a test'

/** Accounts, tokens and keys. */
export function accountRows({ service, buyer, code }: ErrorWorld) {
  const stranger = (tool: string, input: object) => service.tool(tool, { ...input })
  /** A token of a login by code, as the step request_login_code leads to it. */
  const logIn = async ({ email }: Buyer) =>
    (await stranger('verify_login_code', { email, code: code() })).body.token as string
  const byCode = ({ email }: Buyer) => ({ request_login_code: { email } })
  let made = 0
  const newEmail = () => `walker${made++}@rackmail.net`

  return {
    unauthorized: async () => {
      let token = ''
      return {
        call: () => stranger('get_balance', {}),
        take: async (tool, input) => {
          const answer = await stranger(tool, input)
          token ||= answer.body.token
          return answer
        },
        fill: { register_account: { email: newEmail() }, login: { email: newEmail(), password: PASSWORD } },
        refused: { login: 'This account has no password' },
        further: () => service.tool('get_balance', {}, { token }),
      }
    },
    invalid_credentials: async () => {
      const who = await buyer()
      return {
        call: () => stranger('login', { email: who.email, password: 'wrong password' }),
        take: stranger,
        fill: byCode(who),
        further: () => stranger('verify_login_code', { email: who.email, code: code() }),
      }
    },
    invalid_wallet_login: async () => {
      const wallet = privateKeyToAccount(generatePrivateKey())
      let message = 'vps.example.net wants you to sign in'
      return {
        call: async () =>
          stranger('verify_wallet_login', { message, signature: await wallet.signMessage({ message }) }),
        take: async (tool, input) => {
          const answer = await stranger(tool, input)
          message = answer.body.message
          return answer
        },
        fill: { request_wallet_challenge: { address: wallet.address } },
      }
    },
    invalid_code: async () => {
      const who = await buyer()
      return {
        call: () => stranger('verify_login_code', { email: who.email, code: '000000' }),
        take: stranger,
        fill: byCode(who),
        further: () => stranger('verify_login_code', { email: who.email, code: code() }),
      }
    },
    account_suspended: async () => {
      const who = await buyer()
      const suspend = (at: Date | null) =>
        service.services.db.query('update account set suspended_at = $2 where id = $1', [who.accountId, at])
      await suspend(service.clock.now())
      return { call: () => who.call('get_balance'), meanwhile: () => suspend(null) }
    },
    scope_missing: async () => {
      const who = await buyer()
      const { token } = await who.child({ scopes: ['read'] })
      return {
        call: () => who.call('topup_balance', { amount: 5 }, token),
        take: (tool, input) => who.call(tool, input, token),
        fill: byCode(who),
        further: async () => who.call('topup_balance', { amount: 5 }, await logIn(who)),
      }
    },
    budget_exceeded: async () => {
      const who = await buyer()
      const { token, details } = await who.child({ budget: { total: '1.00' } })
      return {
        call: () => who.call('order_vps', { product: 'nano', os_id: 1 }, token),
        take: (tool, input) => who.call(tool, input, token),
        // As "raised_by" says: by the token above.
        meanwhile: () => who.call('update_token', { token_id: details.id, budget: { total: '10.00' } }),
      }
    },
    token_not_below: async () => {
      const who = await buyer()
      const { token } = await who.child({})
      const other = await who.child({})
      const revoke = (as: string) => who.call('revoke_token', { token_id: other.details.id }, as)
      return {
        call: () => revoke(token),
        take: (tool, input) => who.call(tool, input, token),
        fill: byCode(who),
        further: async () => revoke(await logIn(who)),
      }
    },
    child_token: async () => {
      const who = await buyer()
      const { token } = await who.child({})
      return {
        call: () => who.call('set_password', { password: PASSWORD }, token),
        take: stranger,
        fill: byCode(who),
        further: async () => who.call('set_password', { password: PASSWORD }, await logIn(who)),
      }
    },
    email_taken: async () => {
      const who = await buyer()
      return {
        call: () => stranger('register_account', { email: who.email }),
        take: stranger,
        fill: byCode(who),
        further: () => stranger('verify_login_code', { email: who.email, code: code() }),
      }
    },
    email_set: async () => {
      const who = await buyer()
      const email = newEmail()
      await stranger('request_login_code', { email })
      return {
        call: () => who.call('set_email', { email, code: code() }),
        take: who.call,
        further: () => who.call('whoami'),
      }
    },
    invalid_email: async () => ({
      call: () => stranger('register_account', { email: 'a@b@' }),
      further: () => stranger('register_account', { email: newEmail() }),
    }),
    reserved_email: async () => ({
      call: () => stranger('register_account', { email: 'agent@example.com' }),
      further: () => stranger('register_account', { email: newEmail() }),
    }),
    token_limit: async () => {
      const who = await buyer()
      let token = who.token
      let below = ''
      for (let depth = 0; depth < 4; depth++) {
        const { body } = await who.call('create_token', {}, token)
        ;[token, below] = [body.token, token]
      }
      return {
        call: () => who.call('create_token', {}, token),
        take: (tool, input) => who.call(tool, input, token),
        further: () => who.call('create_token', {}, below),
      }
    },
    ssh_key_limit: async () => {
      const who = await buyer()
      for (let count = 0; count < 100; count++) await who.call('add_ssh_key', { public_key: newSshKey() })
      let ssh_key_id = ''
      return {
        call: () => who.call('add_ssh_key', { public_key: newSshKey() }),
        take: async (tool, input) => {
          const answer = await who.call(tool, input)
          ssh_key_id = answer.body.items[0].id
          return answer
        },
        meanwhile: () => who.call('delete_ssh_key', { ssh_key_id }),
      }
    },
    invalid_ssh_key: async () => {
      const who = await buyer()
      return {
        call: () => who.call('add_ssh_key', { public_key: 'ssh-ed25519 AAAA' }),
        take: who.call,
        further: () => who.call('add_ssh_key', { public_key: newSshKey() }),
      }
    },
    unknown_chain: async () => {
      const { address } = privateKeyToAccount(generatePrivateKey())
      return {
        call: () => stranger('request_wallet_challenge', { address, chain_id: 999 }),
        further: () => stranger('request_wallet_challenge', { address }),
      }
    },
    chain_unavailable: async () => {
      const wallet = privateKeyToAccount(generatePrivateKey())
      const { port } = service.services.chains[0]!
      const { askAll } = port
      const { body } = await stranger('request_wallet_challenge', { address: wallet.address })
      // Signed by another key, it may be signed by a contract: that the chain has to say.
      const other = privateKeyToAccount(generatePrivateKey())
      const signature = await other.signMessage({ message: body.message })
      port.askAll = async () => {
        throw new ChainUnavailableError('scripted: no node answers')
      }
      return {
        call: () => stranger('verify_wallet_login', { message: body.message, signature }),
        meanwhile: () => {
          port.askAll = askAll
        },
        further: async () =>
          stranger('verify_wallet_login', {
            message: body.message,
            signature: await wallet.signMessage({ message: body.message }),
          }),
      }
    },
    mail_unavailable: async () => {
      const who = await buyer()
      await who.call('set_password', { password: PASSWORD })
      const { mailer } = service.services
      const { send } = mailer
      mailer.send = async () => {
        throw new Error('scripted: no mail server answers')
      }
      return {
        call: () => stranger('request_login_code', { email: who.email }),
        take: stranger,
        fill: { login: { email: who.email, password: PASSWORD } },
        meanwhile: () => {
          mailer.send = send
          service.clock.advance(60_000)
        },
      }
    },
    rate_limited: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      const open = () => who.ask('POST', `/services/${service_id}/console`, {})
      for (const _ of [1, 2]) await open()
      return { call: open, meanwhile: () => service.clock.advance(30_000) }
    },
  } satisfies Record<string, Row>
}
