import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from './config.ts'

const person = { root: false, home: '/home/ada' }
const noFile = () => undefined
const load = (env: Record<string, string>, files: Record<string, string> = {}, caller = person) =>
  loadConfig(env, (path) => files[path], caller)

function problemsOf(env: Record<string, string>, files: Record<string, string> = {}) {
  try {
    load(env, files)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('The configuration was accepted')
}

const production = {
  COINRACK_PROFILE: 'production',
  COINRACK_PUBLIC_URL: 'https://vps.example.net',
  COINRACK_PUBLIC_IP: '192.0.2.7',
  COINRACK_SERVER_SECRET: '0123456789abcdef0123456789abcdef',
  COINRACK_DEPOSIT_SECRET: 'fedcba9876543210fedcba9876543210',
  COINRACK_CHAINS: '/etc/coinrack/chains.json',
}
const productionFiles = { '/etc/coinrack/chains.json': '{}' }

test('default: nothing set is the demo profile on loopback', () => {
  expect(loadConfig({}, noFile, person)).toMatchObject({
    profile: 'demo',
    host: '127.0.0.1',
    port: 8080,
    metricsPort: 9080,
    publicUrl: 'http://127.0.0.1:8080',
    publicIp: '127.0.0.1',
    sshPorts: { from: 22_000, to: 25_999 },
    dataFolder: '/home/ada/.local/share/coinrack',
    cacheFolder: '/home/ada/.cache/coinrack',
    databaseUrl: undefined,
    serverSecret: undefined,
    maxTopup: 10_000_000_000n,
    trustedProxies: [],
    rates: { orders: { limit: 10, windowSeconds: 60 }, passwordResets: { limit: 5, windowSeconds: 600 } },
    warnings: [],
  })
})

test('behavior: the port of metrics follows that of the service, unless it is set', () => {
  expect(load({ COINRACK_PORT: '8081' }).metricsPort).toBe(9081)
  expect(load({ COINRACK_PORT: '65000' }).metricsPort).toBe(64_000)
  expect(load({ COINRACK_PORT: '8081', COINRACK_METRICS_PORT: '7000' }).metricsPort).toBe(7000)
  expect(load({ COINRACK_METRICS_PORT: '0' }).metricsPort).toBe(0)
})

test('behavior: root has its folders in /var', () => {
  expect(load({}, {}, { root: true, home: '/root' })).toMatchObject({
    dataFolder: '/var/lib/coinrack',
    cacheFolder: '/var/cache/coinrack',
  })
})

test('behavior: XDG folders are respected', () => {
  expect(load({ XDG_DATA_HOME: '/d', XDG_CACHE_HOME: '/c' })).toMatchObject({
    dataFolder: '/d/coinrack',
    cacheFolder: '/c/coinrack',
  })
})

describe('file', () => {
  const path = '/home/ada/.local/share/coinrack/coinrack.env'

  test('default: is read from the data folder', () => {
    const config = load({}, { [path]: '# mine\n\nCOINRACK_PORT = 9000\nexport COINRACK_LOG_LEVEL="debug"\n' })
    expect(config).toMatchObject({ port: 9000, logLevel: 'debug', configFile: path })
  })

  test('behavior: the environment wins; an empty variable counts as not set', () => {
    const config = load({ COINRACK_PORT: '9001', COINRACK_HOST: '' }, { [path]: 'COINRACK_PORT=9000' })
    expect(config).toMatchObject({ port: 9001, host: '127.0.0.1' })
  })

  test('behavior: COINRACK_CONFIG names another, and paths in it are relative to it', () => {
    const files = { '/etc/c.env': 'COINRACK_CATALOG=plans.json', [path]: 'COINRACK_PORT=9000' }
    expect(load({ COINRACK_CONFIG: '/etc/c.env' }, files)).toMatchObject({
      port: 8080,
      catalogFile: '/etc/plans.json',
    })
  })

  test('error: COINRACK_CONFIG names a file that is not there', () => {
    expect(problemsOf({ COINRACK_CONFIG: '/no.env' })).toMatchObject([
      { setting: 'COINRACK_CONFIG', code: 'unreadable_file' },
    ])
  })

  test('error: a line that is no setting, by its number', () => {
    expect(problemsOf({}, { [path]: '\nhello' })).toMatchObject([
      { setting: path, message: 'line 2 is no KEY=value' },
    ])
  })
})

describe('rates', () => {
  test.each([
    ['20/h', { limit: 20, windowSeconds: 3600 }],
    ['10/min', { limit: 10, windowSeconds: 60 }],
    ['5/10min', { limit: 5, windowSeconds: 600 }],
    ['3/s', { limit: 3, windowSeconds: 1 }],
  ])('default: %s', (text, rate) => {
    expect(load({ COINRACK_RATE_BAD_TOKENS: text }).rates.badTokens).toEqual(rate)
  })

  test.each(['20', '0/h', '-1/h', '1/0h', '20/hour', '1.5/h', ''.padEnd(40, '9')])('error: %s', (text) => {
    expect(problemsOf({ COINRACK_RATE_ORDERS: text })).toMatchObject([
      { setting: 'COINRACK_RATE_ORDERS', code: 'invalid_setting' },
    ])
  })
})

test.each([
  ['COINRACK_PORT', '65536'],
  ['COINRACK_PORT', '80a'],
  ['COINRACK_PROFILE', 'staging'],
  ['COINRACK_PUBLIC_URL', 'https://vps.example.net/shop'],
  ['COINRACK_PUBLIC_URL', 'vps.example.net'],
  ['COINRACK_PUBLIC_IP', '300.1.1.1'],
  ['COINRACK_SSH_PORTS', '25999-22000'],
  ['COINRACK_DATA', 'relative/folder'],
  ['COINRACK_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['COINRACK_MAX_TOPUP', '2'],
  ['COINRACK_DEMO_PUBLIC', 'yes'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_URL', 'postgres://one,two:port/x'],
])('error: %s=%s is not valid', (name, text) => {
  expect(problemsOf({ [name]: text })).toMatchObject([{ setting: name, code: 'invalid_setting' }])
})

test('error: all problems are told at once', () => {
  const problems = problemsOf({ COINRACK_PORT: 'x', COINRACK_HOST: '0.0.0.0', COINRACK_RATE_LOGIN: 'x' })
  expect(problems.map((problem) => problem.setting)).toEqual([
    'COINRACK_PORT',
    'COINRACK_RATE_LOGIN',
    'COINRACK_HOST',
    'COINRACK_PUBLIC_URL',
  ])
  expect(problems.every((problem) => problem.message && problem.fix)).toBe(true)
})

test('error: a secret that is wrong is not shown', () => {
  expect(JSON.stringify(problemsOf({ COINRACK_SERVER_SECRET: 'hunter2' }))).not.toContain('hunter2')
})

test('behavior: an unknown name is reported, with the likely one', () => {
  expect(load({ COINRACK_RATE_ORDER: '1/h', OTHER: 'x' }).warnings).toEqual([
    'COINRACK_RATE_ORDER is no setting of this service; is it COINRACK_RATE_ORDERS?',
  ])
})

describe('demo profile', () => {
  test('error: listens on loopback only', () => {
    expect(problemsOf({ COINRACK_HOST: '192.0.2.1' })).toMatchObject([
      { setting: 'COINRACK_HOST', code: 'unsafe_setting' },
    ])
  })

  test('behavior: unless it is told that it may be public', () => {
    const env = { COINRACK_HOST: '192.0.2.1', COINRACK_DEMO_PUBLIC: 'true' }
    expect(load(env).publicUrl).toBe('http://192.0.2.1:8080')
  })

  test('error: chains of its own only', () => {
    expect(problemsOf({ COINRACK_CHAINS: '/etc/chains.json' })).toMatchObject([
      { setting: 'COINRACK_CHAINS' },
    ])
  })
})

describe('production profile', () => {
  test('default: everything that it needs', () => {
    expect(load(production, productionFiles)).toMatchObject({
      profile: 'production',
      publicUrl: 'https://vps.example.net',
      mailFrom: 'Coinrack <no-reply@vps.example.net>',
    })
  })

  test('error: what it needs is missing', () => {
    const problems = problemsOf({ COINRACK_PROFILE: 'production' })
    expect(problems.map((problem) => [problem.setting, problem.code])).toEqual([
      ['COINRACK_PUBLIC_URL', 'missing_setting'],
      ['COINRACK_PUBLIC_IP', 'missing_setting'],
      ['COINRACK_SERVER_SECRET', 'missing_setting'],
      ['COINRACK_DEPOSIT_SECRET', 'missing_setting'],
      ['COINRACK_CHAINS', 'missing_setting'],
    ])
  })

  test.each([
    ['plain http', { COINRACK_PUBLIC_URL: 'http://vps.example.net' }, 'COINRACK_PUBLIC_URL'],
    ['a short secret', { COINRACK_SERVER_SECRET: 'short' }, 'COINRACK_SERVER_SECRET'],
    ['a secret typed in a hurry', { COINRACK_DEPOSIT_SECRET: 'a'.repeat(40) }, 'COINRACK_DEPOSIT_SECRET'],
    [
      'one secret for both',
      { COINRACK_DEPOSIT_SECRET: production.COINRACK_SERVER_SECRET },
      'COINRACK_DEPOSIT_SECRET',
    ],
    ['the flag of the demo', { COINRACK_DEMO_PUBLIC: 'true' }, 'COINRACK_DEMO_PUBLIC'],
    ['a chains file that is not there', { COINRACK_CHAINS: '/no.json' }, 'COINRACK_CHAINS'],
  ])('error: refuses %s', (_what, env, setting) => {
    expect(problemsOf({ ...production, ...env }, productionFiles)).toMatchObject([{ setting }])
  })

  test.each([0, 4, 9])('error: refuses a treasury that is development account %i', (addressIndex) => {
    const { address } = mnemonicToAccount('test test test test test test test test test test test junk', {
      addressIndex,
    })
    const files = { '/etc/coinrack/chains.json': JSON.stringify({ treasury: address }) }
    expect(problemsOf(production, files)).toMatchObject([
      { setting: 'COINRACK_CHAINS', code: 'unsafe_setting' },
    ])
  })

  test('error: refuses a gas wallet whose key everyone knows', () => {
    const key = mnemonicToAccount('test test test test test test test test test test test junk').getHdKey()
    const COINRACK_X402_KEY = Buffer.from(key.privateKey!).toString('hex')
    expect(problemsOf({ ...production, COINRACK_X402_KEY }, productionFiles)).toMatchObject([
      { setting: 'COINRACK_X402_KEY', code: 'unsafe_setting' },
    ])
  })
})

test.each(['12', `0x${'0'.repeat(64)}`, 'f'.repeat(64), 'z'.repeat(64)])(
  'error: %s is no key of a gas wallet, and is not shown',
  (COINRACK_X402_KEY) => {
    const [problem] = problemsOf({ COINRACK_X402_KEY })
    expect(problem).toMatchObject({ setting: 'COINRACK_X402_KEY', code: 'invalid_setting' })
    expect(problem!.message).not.toContain(COINRACK_X402_KEY)
  },
)

describe('a pool of addresses', () => {
  test('default: networks without their ends, ranges and single addresses', () => {
    const text = '198.51.100.0/24, 203.0.113.16-203.0.113.31 192.0.2.9,192.0.2.10/31'
    expect(load({ COINRACK_ADDRESS_POOL: text }).addressPool).toEqual([
      { from: '198.51.100.1', to: '198.51.100.254' },
      { from: '203.0.113.16', to: '203.0.113.31' },
      { from: '192.0.2.9', to: '192.0.2.9' },
      { from: '192.0.2.10', to: '192.0.2.11' },
    ])
  })

  test.each([
    '198.51.100.7/24',
    '198.51.100.0/33',
    '198.51.100.9-198.51.100.1',
    '198.51.100.1-198.51.100.9, 198.51.100.9',
    '10.0.0.0/8',
    '2001:db8::/64',
    '198.51.100',
  ])('error: %s', (text) => {
    expect(problemsOf({ COINRACK_ADDRESS_POOL: text })).toMatchObject([
      { setting: 'COINRACK_ADDRESS_POOL', code: 'invalid_setting' },
    ])
  })

  test('error: a router without an interface to reach it over, or one that cannot be', () => {
    expect(problemsOf({ COINRACK_ADDRESS_GATEWAY: '198.51.100.1' })).toMatchObject([
      { setting: 'COINRACK_ADDRESS_BRIDGE', code: 'missing_setting' },
    ])
    expect(problemsOf({ COINRACK_ADDRESS_BRIDGE: 'br0; reboot' })).toMatchObject([
      { setting: 'COINRACK_ADDRESS_BRIDGE', code: 'invalid_setting' },
    ])
    expect(load({ COINRACK_ADDRESS_GATEWAY: '198.51.100.1', COINRACK_ADDRESS_BRIDGE: 'br0' })).toMatchObject({
      addressBridge: 'br0',
      addressGateway: '198.51.100.1',
    })
  })
})

describe('an IPv6 network', () => {
  test.each([
    ['2001:DB8:1:2::/64', '2001:db8:1:2::'],
    ['2001:db8::/32', '2001:db8::'],
  ])('default: %s', (text, first) => {
    expect(load({ COINRACK_ADDRESS_IPV6: text }).ipv6Prefix).toBe(first)
  })

  test.each(['2001:db8::', '2001:db8::/80', '2001:db8::1/64', '2001:db8:1::/32', '10.0.0.0/24', '::/0'])(
    'error: %s',
    (text) => {
      expect(problemsOf({ COINRACK_ADDRESS_IPV6: text })).toMatchObject([
        { setting: 'COINRACK_ADDRESS_IPV6', code: 'invalid_setting' },
      ])
    },
  )
})

describe('reverse names', () => {
  const key = 'hmac-sha256:coinrack:MDEyMzQ1Njc4OWFiY2RlZg=='

  test.each([
    ['192.0.2.53', { host: '192.0.2.53', port: 53 }],
    ['192.0.2.53:5353', { host: '192.0.2.53', port: 5353 }],
    ['2001:db8::53', { host: '2001:db8::53', port: 53 }],
    ['[2001:db8::53]:5353', { host: '2001:db8::53', port: 5353 }],
  ])('default: %s', (text, server) => {
    expect(load({ COINRACK_RDNS_SERVER: text, COINRACK_RDNS_KEY: key })).toMatchObject({
      rdnsServer: server,
      rdnsKey: { algorithm: 'hmac-sha256', name: 'coinrack', secret: 'MDEyMzQ1Njc4OWFiY2RlZg==' },
    })
  })

  test.each([
    [{ COINRACK_RDNS_SERVER: 'ns.example.net', COINRACK_RDNS_KEY: key }, 'COINRACK_RDNS_SERVER'],
    [{ COINRACK_RDNS_SERVER: '192.0.2.53' }, 'COINRACK_RDNS_KEY'],
    [{ COINRACK_RDNS_KEY: key }, 'COINRACK_RDNS_SERVER'],
    [{ COINRACK_RDNS_SERVER: '192.0.2.53', COINRACK_RDNS_KEY: 'md5:a:b' }, 'COINRACK_RDNS_KEY'],
    [{ COINRACK_RDNS_SERVER: '192.0.2.53', COINRACK_RDNS_KEY: `${key}\nsend` }, 'COINRACK_RDNS_KEY'],
  ])('error: %j', (env, setting) => {
    const problems = problemsOf(env as Record<string, string>)
    expect(problems[0]).toMatchObject({ setting })
    expect(JSON.stringify(problems)).not.toContain('MDEy')
  })
})
