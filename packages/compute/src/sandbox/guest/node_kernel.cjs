// The Node.js in which code runs: reads one JSON in a line from descriptor 3, and answers each when it has ended.
const crypto = require('node:crypto')
const { createRequire, syncBuiltinESMExports } = require('node:module')
const net = require('node:net')
const util = require('node:util')
const vm = require('node:vm')
const { prepare } = require('./node_code.cjs')

const channel = new net.Socket({ fd: 3, readable: true, writable: true })
const require_ = createRequire(`${process.cwd()}/code`)
Object.assign(globalThis, { require: require_, module: { exports: {} }, exports: {} })
// What is started from here needs none of ours.
process.execArgv.length = 0
let count = 0
globalThis.display = (...values) => {
  for (const value of values) say({ result: { data: formsOf(value), isMain: false } })
}

const say = (message) => channel.write(`${JSON.stringify(message)}\n`)

const formsOf = (value) => ({
  'text/plain': typeof value === 'string' ? util.inspect(value) : util.inspect(value, { depth: 4 }),
})

/**
 * V8's own generator is seeded before this machine is cloned: numbers come from the kernel's instead, and nothing that was
 * drawn before is kept for later.
 */
const numbers = new BigUint64Array(512)
let left = 0
Math.random = function random() {
  if (left === 0) {
    crypto.getRandomValues(numbers)
    left = numbers.length
  }
  return Number(numbers[--left] >> 11n) / 2 ** 53
}
const { randomUUID } = crypto
const freshUUID = (options) => randomUUID({ ...options, disableEntropyCache: true })
crypto.randomUUID = freshUUID
crypto.webcrypto.randomUUID = () => freshUUID()
syncBuiltinESMExports()

function renew() {
  left = 0
}

function compile(code) {
  const { text, awaits } = prepare(code)
  const script = new vm.Script(text, {
    filename: `<code ${count}>`,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  return { script, awaits }
}

async function run({ code, quiet }) {
  count++
  let interrupt
  const interrupted = new Promise((_, reject) => {
    interrupt = () => reject(Object.assign(new Error('interrupted'), { name: 'Interrupted' }))
  })
  interrupted.catch(() => {})
  process.on('SIGINT', interrupt)
  try {
    const { script, awaits } = compile(code)
    const made = script.runInThisContext({ breakOnSigint: true })
    const settled = made instanceof Promise ? await Promise.race([made, interrupted]) : made
    const value = awaits ? settled?.value : settled
    if (value !== undefined) {
      globalThis._ = value
      say({ result: { data: formsOf(value), isMain: true } })
    }
    return { exitCode: 0 }
  } catch (thrown) {
    const error =
      thrown instanceof Error || util.types.isNativeError(thrown)
        ? thrown
        : { name: 'Error', message: util.inspect(thrown) }
    const traceback = String(error.stack ?? error.message)
      .split('\n')
      .filter((line) => !line.includes('node_kernel.cjs') && !line.includes('(node:'))
      .join('\n')
    if (!quiet) process.stderr.write(`${traceback}\n`)
    return {
      exitCode: 1,
      error: { name: String(error.name), value: String(error.message), traceback },
    }
  } finally {
    process.off('SIGINT', interrupt)
  }
}

process.on('SIGINT', () => {})
process.on('uncaughtException', (error) => process.stderr.write(`${error?.stack ?? error}\n`))

let text = ''
let last = Promise.resolve()
channel.setEncoding('utf8')
channel.on('data', (chunk) => {
  text += chunk
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
    const message = JSON.parse(text.slice(0, at))
    text = text.slice(at + 1)
    if (message.renew) {
      Object.assign(process.env, message.env)
      renew()
      continue
    }
    last = last.then(async () => {
      Object.assign(process.env, message.env)
      say(await run(message))
    })
  }
})
channel.on('end', () => process.exit())
channel.write('{}\n')
