import type { Setting } from './config-settings.ts'
import * as values from './config-values.ts'

const perAccount = (what: string, limit: string) => ({ doc: `${what}, per account.`, default: limit })
const perAddress = (what: string, limit: string) => ({ doc: `${what}, per client address.`, default: limit })

/** Each rate class by its name; the setting of `passwordResets` is `COINRACK_RATE_PASSWORD_RESETS`. */
export const rateClasses = {
  orders: perAccount('Orders', '10/min'),
  topups: perAccount('Top-ups', '10/min'),
  purchases: perAddress('Purchases without an account, and questions what one costs', '30/min'),
  passwordResets: perAccount('Root password resets', '5/10min'),
  reinstalls: perAccount('Reinstalls', '5/h'),
  console: perAccount('Consoles opened', '20/min'),
  sandboxes: perAccount('Sandboxes made', '60/min'),
  register: perAddress('Registrations', '20/h'),
  applications: perAddress(
    'Applications that register for sign-in by OAuth, or whose metadata is fetched',
    '60/h',
  ),
  login: perAddress('Logins and one-time codes', '10/10min'),
  registerTotal: { doc: 'Registrations of all addresses together.', default: '2000/h' },
  loginTotal: {
    doc: 'Logins and one-time codes of all addresses together. Above it nobody without a token can log in, so keep it well above what a thousand addresses may do.',
    default: '20000/10min',
  },
  badTokens: perAddress('Requests with a wrong token', '60/min'),
  default: perAccount('All calls together', '600/min'),
}

type RateClassName = keyof typeof rateClasses

/** The settings of all rate classes, by class. */
export const rateSettings = Object.fromEntries<Setting<values.Rate>>(
  Object.entries(rateClasses).map(([rateClass, declared]) => {
    const name = `COINRACK_RATE_${rateClass.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
    return [rateClass, { name, schema: values.rate, ...declared }]
  }),
) as Record<RateClassName, Setting<values.Rate>>
