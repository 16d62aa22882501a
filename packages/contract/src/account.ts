import { z } from 'zod'
import { exampleEmail, examplePassword, exampleWallet } from './examples.ts'
import { Id } from './ids.ts'
import { operation } from './operation.ts'
import { Token } from './tokens.ts'
import { PlainText, Timestamp } from './wire.ts'

export const Account = z.object({
  id: Id('account'),
  email: z.string().nullable().describe('Null for an account of a wallet until set_email'),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  has_password: z.boolean(),
  email_verified: z.boolean(),
  created_at: Timestamp,
})

export const Session = z.object({
  token: z.string().describe('Shown once; send it as "Authorization: Bearer <token>"'),
  token_type: z.literal('Bearer'),
  token_expires_at: Timestamp,
  account: Account,
})

// Length and form are judged by the e-mail policy, so that its own error codes can say what is wrong.
const Email = z.string()
const LoginCode = z
  .string()
  .max(40)
  .regex(
    /^\s*\d{6}\s*$|^([\s-]*[0-9A-Za-z]){12}[\s-]*$/,
    'Expected the 6 digits or the 12 characters from the mail',
  )
const WalletAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'Expected 0x and 40 hexadecimal digits')
const Password = z.string().min(8).max(200).describe('8 to 200 characters')
const Name = PlainText(100)
const UnconfirmedTokens = z
  .array(Id('token'))
  .describe('From before the mailbox was proven, on a budget: confirm_token or revoke_token')

const afterLogin = ({ token }: Record<string, unknown>) => [
  { tool: 'list_plans', why: 'See plans, prices and os_ids' },
  {
    tool: 'topup_balance',
    why: 'Put money on the balance',
    arguments: { amount: 10, access_token: token },
  },
]

export const account = {
  registerAccount: operation({
    method: 'POST',
    path: '/auth/register',
    aliases: ['/register'],
    everyday: true,
    summary: 'Register an account',
    description:
      'Creates an account from an e-mail address alone and returns its Bearer token at once. Keep the token, and send it as Authorization header or as access_token of every tool.',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'register',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      email: Email,
      first_name: Name.optional(),
      last_name: Name.optional(),
      password: Password.optional(),
    }),
    output: Session,
    created: () => '/account',
    errors: ['invalid_email', 'reserved_email', 'email_taken'],
    example: { email: exampleEmail, first_name: 'Ada', last_name: 'Agent' },
    next: afterLogin,
  }),
  login: operation({
    method: 'POST',
    path: '/auth/login',
    everyday: true,
    summary: 'Log in with a password',
    description: 'Returns a new Bearer token for an account that has a password (see set_password).',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ email: Email, password: z.string().min(1).max(200) }),
    output: Session,
    errors: ['invalid_credentials'],
    example: { email: exampleEmail, password: examplePassword },
    next: afterLogin,
  }),
  requestLoginCode: operation({
    method: 'POST',
    path: '/auth/otp/request',
    aliases: ['/otp/request'],
    summary: 'Send a login code by e-mail',
    description:
      'Sends a login code by e-mail, which is good for 10 minutes: 6 digits, or 12 characters after many wrong tries or requests for the address, and then at most one in 10 minutes. The answer is the same whether or not an account exists.',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ email: Email }),
    output: z.object({ message: z.string(), expires_in: z.number().int().describe('Seconds') }),
    errors: ['invalid_email', 'reserved_email', 'mail_unavailable'],
    example: { email: exampleEmail },
    next: (_answer, { email }) => [
      {
        tool: 'verify_login_code',
        why: 'Exchange the code from the mail for a token: add it as code',
        arguments: { email },
      },
    ],
  }),
  verifyLoginCode: operation({
    method: 'POST',
    path: '/auth/otp/verify',
    aliases: ['/otp/verify'],
    summary: 'Log in with a code from the mail',
    description:
      'Exchanges a login code for a Bearer token, and creates the account when there is none for this address.',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      email: Email,
      code: LoginCode,
    }),
    output: Session.extend({ unconfirmed_tokens: UnconfirmedTokens }),
    errors: ['invalid_code'],
    example: { email: exampleEmail, code: '123456' },
    next: (answer) =>
      (answer.unconfirmed_tokens as string[] | undefined)?.length
        ? [{ tool: 'list_tokens', why: 'See the tokens from before your login: confirm or revoke each' }]
        : afterLogin(answer),
  }),
  requestWalletChallenge: operation({
    method: 'POST',
    path: '/x402/login/challenge',
    atOrigin: true,
    summary: 'Get a message for a wallet to sign',
    description:
      'Shows a Sign-In-With-Ethereum message (EIP-4361) for the wallet to sign, which logs in once within 5 minutes.',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      address: WalletAddress,
      chain_id: z.number().int().optional().describe('For a contract wallet: the chain that it is on'),
    }),
    output: z.object({ message: z.string(), expires_at: Timestamp }),
    errors: ['unknown_chain'],
    example: { address: exampleWallet },
    next: ({ message }) => [
      {
        tool: 'verify_wallet_login',
        why: 'Sign the message with personal_sign, and exchange it for a token: add the signature',
        arguments: { message },
      },
    ],
  }),
  verifyWalletLogin: operation({
    method: 'POST',
    path: '/x402/login',
    atOrigin: true,
    summary: 'Log in with a wallet',
    description:
      'Exchanges the signed message of request_wallet_challenge for a Bearer token of the account of the wallet, and creates the account when there is none.',
    access: 'public',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      message: z.string().max(2000).describe('As it was answered'),
      signature: z
        .string()
        .max(4098)
        .regex(/^0x([0-9a-fA-F]{2})+$/, 'Expected hexadecimal digits')
        .describe(
          'Made with personal_sign; for a contract wallet, in the form that its ERC-1271 method accepts',
        ),
    }),
    output: Session,
    errors: ['invalid_wallet_login', 'chain_unavailable'],
    example: {
      message: 'example.net wants you to sign in with your Ethereum account: ...',
      signature: '0x00',
    },
    next: afterLogin,
  }),
  setEmail: operation({
    method: 'POST',
    path: '/account/email',
    summary: 'Give an account of a wallet an address',
    description:
      'Sets the e-mail address of an account that has none, for mail and for logging in: request_login_code sends a code to it, which proves that it is yours.',
    access: 'account',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ email: Email, code: LoginCode }),
    output: z.object({ account: Account }),
    errors: ['invalid_code', 'email_taken', 'email_set', 'child_token'],
    example: { email: exampleEmail, code: '123456' },
  }),
  setPassword: operation({
    method: 'POST',
    path: '/auth/set-password',
    summary: 'Set the account password',
    description:
      'Sets the password that login takes. Send current_password when one is set and the token is older than 10 minutes. With revoke_others every other token of the account ends. A child token cannot set a password.',
    access: 'account',
    closedTo: ['grant', 'program'],
    rate: 'login',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      password: Password,
      current_password: z.string().max(200).optional(),
      revoke_others: z.boolean().default(false),
    }),
    output: z.object({ account: Account }),
    errors: ['invalid_credentials', 'child_token'],
    example: { password: examplePassword },
  }),
  whoami: operation({
    method: 'GET',
    path: '/account',
    summary: 'Show the account and this token',
    description:
      'Shows the account that the token belongs to, the rights and the budget of the token with what it has spent, and the tokens that wait for confirm_token.',
    access: 'read',
    closedTo: ['program'],
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: Account.extend({ token: Token, unconfirmed_tokens: UnconfirmedTokens }),
    errors: [],
    example: {},
  }),
  updateAccount: operation({
    method: 'PATCH',
    path: '/account',
    summary: 'Change the names of the account',
    description:
      'Changes the first or last name of the account. A field that is left out stays as it is, and null removes a name.',
    access: 'account',
    closedTo: ['program'],
    rate: 'default',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ first_name: Name.nullable().optional(), last_name: Name.nullable().optional() }),
    output: z.object({ account: Account }),
    errors: [],
    example: { first_name: 'Ada', last_name: null },
  }),
}
