import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { type rateClasses, rateSettings } from './config-rates.ts'
import { CONFIG_FILE_SETTING, type Setting, settings } from './config-settings.ts'
import { HIGHEST_PORT, type Rate } from './config-values.ts'

type Value<S> = S extends Setting<infer T> ? (S extends { default: string } ? T : T | undefined) : never
type Declared = { [Field in keyof typeof settings]: Value<(typeof settings)[Field]> }

/** Settings that derive from others when they are not set, and so always have a value. */
type Derived = 'metricsPort' | 'publicUrl' | 'publicIp' | 'dataFolder' | 'cacheFolder' | 'mailFrom'

export type RateClassName = keyof typeof rateClasses

/** Everything that an operator decides, read and checked. The fields are those of `settings`. */
export type Config = Omit<Declared, Derived> & {
  [Field in Derived]: NonNullable<Declared[Field]>
} & {
  rates: Record<RateClassName, Rate>
  /** The file that settings were read from. */
  configFile: string | undefined
  /** Oddities that are no reason to stop, for the log. */
  warnings: string[]
}

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  setting: string
  code: 'invalid_setting' | 'missing_setting' | 'unsafe_setting' | 'unreadable_file'
  message: string
  fix: string
}

/** All that is wrong with the configuration, at once. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: ConfigProblem[]

  constructor(problems: ConfigProblem[]) {
    const lines = problems.map(({ setting, message, fix }) => `  ${setting}: ${message}\n    ${fix}`)
    super(`The configuration does not hold:\n${lines.join('\n')}`)
    this.problems = problems
  }
}

/** Accounts of the mnemonic that every development chain starts with; their keys are public. */
const DEVELOPMENT_ADDRESSES = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
]

type Environment = Record<string, string | undefined>

/**
 * Reads the configuration from the environment and one optional file; the environment wins.
 * The file is `COINRACK_CONFIG`, else `coinrack.env` in the data folder, else `coinrack.env` in the working folder.
 * @param readFile the text of a file, undefined when there is none
 * @throws ConfigError
 */
export function loadConfig(
  env: Environment,
  readFile: (path: string) => string | undefined,
  caller = { root: process.getuid?.() === 0, home: homedir() },
): Config {
  const { texts, file, folders, problems } = readTexts(env, readFile, caller)

  const read = <S extends Setting>(setting: S): unknown => {
    const text = texts[setting.name] ?? setting.default
    if (text === undefined) return undefined
    const result = setting.schema.safeParse(text)
    if (result.success) return result.data
    problems.push({
      setting: setting.name,
      code: 'invalid_setting',
      message: `${setting.secret ? 'the value' : JSON.stringify(text)} is not valid`,
      fix: `${capital(result.error.issues[0]!.message)}.`,
    })
    return undefined
  }
  const readAll = (declared: Record<string, Setting>) =>
    Object.fromEntries(Object.entries(declared).map(([field, setting]) => [field, read(setting)]))

  /** A path in the file is relative to the file, one in the environment to the working folder. */
  const pathOf = ({ name }: Setting) => {
    const fromFile = !env[name] && file.path !== undefined
    return texts[name] && resolve(fromFile ? dirname(file.path) : '', texts[name])
  }

  const values = readAll(settings) as Declared
  const rates = readAll(rateSettings) as Config['rates']
  // A missing setting is told apart from a wrong one, which was reported already.
  const isSet = (setting: Setting) => texts[setting.name] !== undefined
  const chainsText = values.chainsFile && readFile(pathOf(settings.chainsFile)!)
  problems.push(
    ...(values.profile === 'production' ? productionProblems : demoProblems)(values, isSet, chainsText),
  )
  problems.push(...networkProblems(values))
  if (problems.length > 0) throw new ConfigError(problems)

  const publicUrl = values.publicUrl ?? `http://${urlHost(values.host)}:${values.port}`
  return {
    ...values,
    dataFolder: values.dataFolder ?? folders.dataFolder,
    cacheFolder: values.cacheFolder ?? folders.cacheFolder,
    chainsFile: pathOf(settings.chainsFile),
    catalogFile: pathOf(settings.catalogFile),
    clusterFile: pathOf(settings.clusterFile),
    metricsPort: values.metricsPort ?? metricsPortBeside(values.port),
    publicUrl,
    publicIp: values.publicIp ?? '127.0.0.1',
    mailFrom: values.mailFrom ?? `Coinrack <no-reply@${new URL(publicUrl).hostname}>`,
    rates,
    configFile: file.path,
    warnings: unknownNames(texts).map((name) => `${name} is no setting of this service${suggestion(name)}`),
  }
}

/** The settings as they are written, by name; `loadConfig` says what they mean. */
export const settingTexts = (
  env: Environment,
  readFile: (path: string) => string | undefined,
): Record<string, string> =>
  readTexts(env, readFile, { root: process.getuid?.() === 0, home: homedir() }).texts

function readTexts(
  env: Environment,
  readFile: (path: string) => string | undefined,
  caller: { root: boolean; home: string },
) {
  const problems: ConfigProblem[] = []
  const folders = defaultFolders(env, caller)
  const file = findFile(env, env.COINRACK_DATA || folders.dataFolder, readFile)
  if (!file) {
    const message = `there is no file ${env[CONFIG_FILE_SETTING]}`
    const fix = 'Name a file that exists, or leave the setting out.'
    throw new ConfigError([{ setting: CONFIG_FILE_SETTING, code: 'unreadable_file', message, fix }])
  }
  const texts: Record<string, string> = { ...parseFile(file, problems), ...nonEmpty(env) }
  return { texts, file, folders, problems }
}

/** Away from the ports beside it, which another service on this host is likely to have. */
const metricsPortBeside = (port: number) => (port + 1_000 <= HIGHEST_PORT ? port + 1_000 : port - 1_000)

function defaultFolders(env: Environment, { root, home }: { root: boolean; home: string }) {
  if (root) return { dataFolder: '/var/lib/coinrack', cacheFolder: '/var/cache/coinrack' }
  return {
    dataFolder: join(env.XDG_DATA_HOME || join(home, '.local/share'), 'coinrack'),
    cacheFolder: join(env.XDG_CACHE_HOME || join(home, '.cache'), 'coinrack'),
  }
}

/** The file of settings; one without a path when there is none, undefined when the one asked for is missing. */
function findFile(env: Environment, dataFolder: string, readFile: (path: string) => string | undefined) {
  const asked = env[CONFIG_FILE_SETTING]
  for (const candidate of asked ? [asked] : [join(dataFolder, 'coinrack.env'), 'coinrack.env']) {
    const path = resolve(candidate)
    const text = readFile(path)
    if (text !== undefined) return { path, text }
  }
  return asked ? undefined : { path: undefined, text: '' }
}

/** `KEY=value` lines; empty lines and lines that begin with # mean nothing; quotes around a value are taken off. */
function parseFile(file: { path: string | undefined; text: string }, problems: ConfigProblem[]) {
  const texts: Record<string, string> = {}
  for (const [index, raw] of file.text.split(/\r?\n/).entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const match = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line)
    if (!match) {
      const message = `line ${index + 1} is no KEY=value`
      const fix = 'Write one setting per line; a line that begins with # is a comment.'
      problems.push({ setting: file.path ?? '', code: 'unreadable_file', message, fix })
      continue
    }
    const value = match[2]!.replace(/^(["'])(.*)\1$/, '$2')
    if (value !== '') texts[match[1]!] = value
  }
  return texts
}

const nonEmpty = (env: Environment) =>
  Object.fromEntries(Object.entries(env).filter(([, text]) => text !== undefined && text !== '')) as Record<
    string,
    string
  >

function productionProblems(
  values: Declared,
  isSet: (setting: Setting) => boolean,
  chainsText: string | undefined,
): ConfigProblem[] {
  const needed = ['publicUrl', 'publicIp', 'serverSecret', 'depositSecret', 'chainsFile'] as const
  const problems: ConfigProblem[] = needed
    .filter((field) => !isSet(settings[field]))
    .map((field) => ({
      setting: settings[field].name,
      code: 'missing_setting',
      message: 'the production profile needs it',
      fix: settings[field].doc,
    }))
  if (values.publicUrl?.startsWith('http:'))
    problems.push({
      setting: settings.publicUrl.name,
      code: 'unsafe_setting',
      message: 'the production profile refuses plain http: tokens and passwords travel on it',
      fix: 'Put a proxy with a certificate in front, and write its https address.',
    })
  if (values.chainsFile && chainsText === undefined)
    problems.push({
      setting: settings.chainsFile.name,
      code: 'unreadable_file',
      message: `there is no file ${values.chainsFile}`,
      fix: 'Name a file that exists.',
    })
  if (DEVELOPMENT_ADDRESSES.some((address) => chainsText?.toLowerCase().includes(address)))
    problems.push({
      setting: settings.chainsFile.name,
      code: 'unsafe_setting',
      message: 'it names an address whose key everyone knows (a development account)',
      fix: 'Use addresses of your own; the treasury should be a multisig.',
    })
  if (values.x402Key && DEVELOPMENT_ADDRESSES.includes(privateKeyToAddress(values.x402Key).toLowerCase()))
    problems.push({
      setting: settings.x402Key.name,
      code: 'unsafe_setting',
      message: 'everyone knows this key (a development account)',
      fix: 'Make one of your own: openssl rand -hex 32.',
    })
  if (values.demoPublic)
    problems.push({
      setting: settings.demoPublic.name,
      code: 'unsafe_setting',
      message: 'it belongs to the demo profile',
      fix: 'Remove it.',
    })
  if (values.serverSecret !== undefined && values.serverSecret === values.depositSecret)
    problems.push({
      setting: settings.depositSecret.name,
      code: 'unsafe_setting',
      message: 'it is the same as the server secret',
      fix: 'Make another: this one can never change, the server secret can.',
    })
  return problems
}

function demoProblems(values: Declared, isSet: (setting: Setting) => boolean): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (values.host && !isLoopback(values.host) && values.demoPublic === false)
    problems.push({
      setting: settings.host.name,
      code: 'unsafe_setting',
      message: `the demo profile publishes a faucet key, so it does not listen on ${values.host}`,
      fix: 'Listen on 127.0.0.1, or set COINRACK_DEMO_PUBLIC=true if everyone who reaches it may order for nothing.',
    })
  if (values.host && ['0.0.0.0', '::'].includes(values.host) && !isSet(settings.publicUrl))
    problems.push({
      setting: settings.publicUrl.name,
      code: 'missing_setting',
      message: `links cannot be built from ${values.host}, which means every address`,
      fix: 'Write the address that clients use.',
    })
  if (values.chainsFile)
    problems.push({
      setting: settings.chainsFile.name,
      code: 'unsafe_setting',
      message: 'the demo profile has its own chains, and would credit real and test money alike',
      fix: 'Remove it, or set COINRACK_PROFILE=production.',
    })
  return problems
}

/** Settings that are of no use without another one. */
function networkProblems(values: Declared): ConfigProblem[] {
  const pairs = [
    ['addressGateway', 'addressBridge'],
    ['rdnsServer', 'rdnsKey'],
    ['rdnsKey', 'rdnsServer'],
  ] as const
  return pairs
    .filter(([field, needed]) => values[field] !== undefined && values[needed] === undefined)
    .map(([field, needed]) => ({
      setting: settings[needed].name,
      code: 'missing_setting',
      message: `${settings[field].name} needs it`,
      fix: settings[needed].doc,
    }))
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')
const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const knownNames = [...Object.values(settings), ...Object.values(rateSettings)].map((setting) => setting.name)

const unknownNames = (texts: Record<string, string>) =>
  Object.keys(texts).filter(
    (name) => name.startsWith('COINRACK_') && name !== CONFIG_FILE_SETTING && !knownNames.includes(name),
  )

/** The known name that shares the most words with an unknown one. */
function suggestion(name: string): string {
  const words = name.split('_').slice(1)
  const shared = (known: string) =>
    known.split('_').filter((word) => words.some((own) => isAlike(own, word))).length
  const best = knownNames.toSorted((a, b) => shared(b) - shared(a))[0]!
  return shared(best) > 0 ? `; is it ${best}?` : ''
}

const isAlike = (one: string, other: string) => one.startsWith(other.slice(0, 3)) || other.startsWith(one)
