import { operationList } from '@coinrack/contract/index.ts'
import { LONGEST_PROGRAM_S } from '@coinrack/contract/programs.ts'
import type { Draw } from './facts.ts'

/*
 * Hostile programs for real sandboxes, as their customers would send them. Each follows from the numbers that are drawn.
 */

/** What the programs know of the world outside. */
export interface Outside {
  /** Addresses of this host, with the port of a server that counts who reaches it. */
  addresses: string[]
  port: number
  /** Another customer's sandbox. */
  victim: string
}

export interface HostileProgram {
  kind: string
  code: string
  budget?: string
  timeout: number
}

/** For those that do not end by themselves, once they have begun. */
const ENDLESS_S = 8

type Write = (draw: Draw, outside: Outside) => string

const closed = operationList
  .filter(([, op]) => op.closedTo?.includes('program') || op.atOrigin)
  .map(([name, op]) => [name, op.example])
const json = JSON.stringify
/** A shell in the sandbox, as root if wanted. */
const SHELL = `import { execSync, spawn } from 'node:child_process'
const sh = (command: string) => { try { return String(execSync(command, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 3000 })) } catch (error: any) { return 'failed ' + error.status } }
`
const ORDER = `coinrack.orderVps({ product: 'nano', os_id: 1 })`
const CREATE = `coinrack.createSandbox({ timeout: 60 })`
/** The connection of the client, which no program is given and any can find. */
const SOCKET = `const socket = (process as any)._getActiveHandles().find((handle: any) => handle.localPort && handle.remotePort)
`

const kinds: Record<string, { write: Write; budget?: (draw: Draw) => string; timeout?: number }> = {
  'looks for the text of its token': {
    write: () => `${SHELL}
console.log(Object.entries(process.env).join(' '))
console.log(sh('sudo grep -rlE "crk_[0-9A-Za-z]{40}" /home /tmp /etc /run /var/tmp /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | head'))
console.log(JSON.stringify(coinrack), String(coinrack.listPlans), Object.getOwnPropertyNames(globalThis).length)
const { items } = await coinrack.listPlans({}); console.log(items.length > 0)
try { console.log(await coinrack.whoami({})) } catch (error: any) { console.log(error.code) }`,
  },
  'calls all that is closed to it': {
    write: (draw) => `const codes = new Set()
for (const [name, input] of ${json(closed)}.sort(() => ${draw.of([1, -1])}))
  try { console.log(name, await coinrack[name](input)) } catch (error: any) { codes.add(error.code) }
console.log([...codes].join())`,
  },
  'opens connections': {
    write: (draw, { addresses, port }) => `import net from 'node:net'
import dgram from 'node:dgram'
const targets = ${json(
      [
        ...addresses.map((host) => [host, port]),
        ['127.0.0.1', port],
        ['169.254.169.254', 80],
        ['10.0.2.2', port],
        ['10.0.2.3', 53],
        ['192.0.2.1', 80],
        ['1.1.1.1', 443],
        ['::1', port],
      ].slice(0, 4 + draw.below(8)),
    )}
const reach = ([host, port]: [string, number]) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 1500 }, () => resolve('reached ' + host))
  socket.on('error', () => resolve('')).on('timeout', () => resolve(''))
})
const udp = dgram.createSocket('udp4')
for (const [host, port] of targets) udp.send('x', port as number, host as string, () => {})
console.log((await Promise.all(targets.map((target: any) => reach(target)))).filter(Boolean).join())
await fetch('http://${addresses[0]}:${port}/').then(() => console.log('reached by fetch'), () => {})
udp.close(); process.exit()`,
  },
  'makes itself a network': {
    write: (_draw, { addresses, port }) => `${SHELL}
console.log(sh('sudo sh -c "ip link; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up; ip route add default via 10.0.2.2; echo nameserver 1.1.1.1 > /etc/resolv.conf" 2>&1').length)
console.log(sh('timeout 2 curl -s -m 2 http://${addresses[0]}:${port}/ http://10.0.2.2:${port}/ && echo reached'))
for (const [name, input] of Object.entries({ setSandboxNetwork: { allow_internet: true }, exposePort: { port: 80 }, forkSandbox: {}, createSandboxSnapshot: {} }))
  try { const [own] = (await coinrack.listSandboxes({})).items; await coinrack[name]({ sandbox_id: own.id, ...input }); console.log('reached', name) } catch (error: any) { console.log(error.code) }`,
  },
  'sends lines of its own over the connection': {
    write: (draw) => `${SOCKET}
await coinrack.listPlans({})
socket.write(${json(
      draw.of([
        '{"id":99,"name":"createToken","input":{}}\n',
        '{"id":99,"name":"listPlans","input":{},"token":"crk_x"}\n',
        'GET /api/v1/eqvps/balance HTTP/1.1\r\nHost: localhost\r\n\r\n',
        '\0\0\0\0\n',
        '[]\n',
      ]),
    )})
await new Promise((resolve) => setTimeout(resolve, 100))
try { console.log(await coinrack.createWebhook({ url: 'https://example.com/' })) } catch (error: any) { console.log(error.code) }`,
  },
  'floods the connection': {
    write: (draw) => `${SOCKET}
const piece = Buffer.alloc(65536, ${json(draw.of(['x', '{"id":1}\n', '\n']))})
for (let count = 0; count < 400 && !socket.destroyed; count++) if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
console.log(socket.destroyed)`,
  },
  'reads no answers': {
    timeout: ENDLESS_S,
    write: () => `${SOCKET}
socket.pause(); socket.removeAllListeners('data')
for (let count = 0; count < 300; count++) coinrack.listPlans({}).catch(() => {})
await new Promise((resolve) => setTimeout(resolve, 60_000))`,
  },
  'has huge inputs': {
    write: (
      draw,
    ) => `for (const input of [{ x: 'a'.repeat(${draw.of([100_000, 900_000])}) }, { ['__proto__' + '']: 1 }, JSON.parse('{"__proto__":{"a":1}}')])
  try { await coinrack.listPlans(input); console.log('took it') } catch (error: any) { console.log(error.code) }
try { await coinrack.getBalance({ x: 'a'.repeat(3_000_000) }) } catch (error: any) { console.log(error.code) }`,
  },
  'pollutes what the client is made of': {
    write: () => `const { stringify } = JSON
JSON.stringify = (value: any) => stringify(value?.name ? { ...value, token: 'crk_' + 'a'.repeat(46), accountId: 'acc_1', host: 'example.com' } : value)
Object.prototype['access_token'] = 'x'
Array.prototype.map = () => []
await coinrack.listPlans({}).then((answer: any) => console.log('answered'), (error: any) => console.log(error.code))`,
  },
  'orders fifty at once': {
    budget: (draw) => draw.of(['0', '0.000001', '3', '4', '5.999999']),
    write: () => `const done = await Promise.allSettled(Array.from({ length: 50 }, () => ${ORDER}))
console.log(done.filter(({ status }) => status === 'fulfilled').length)`,
  },
  'starts fifty sandboxes at once': {
    budget: (draw) => draw.of(['0', '0.000274', '0.000275', '0.0006']),
    write: () => `const done = await Promise.allSettled(Array.from({ length: 50 }, () => ${CREATE}))
console.log(done.filter(({ status }) => status === 'fulfilled').length)`,
  },
  'orders, and is gone': {
    budget: (draw) => draw.of(['0', '3.5']),
    write: (draw) => `for (let count = 0; count < 10; count++) ${ORDER}.catch(() => {})
${draw.of(['process.exit(0)', "process.kill(process.pid, 'SIGKILL')", 'throw new Error("over")', 'await new Promise((resolve) => setTimeout(resolve, 20)); process.exit(3)'])}`,
  },
  'leaves a child with the connection': {
    budget: () => '4',
    write: () => `${SHELL}${SOCKET}
await coinrack.listPlans({})
const child = spawn(process.execPath, ['-e', \`
  const net = require('node:net'); const socket = new net.Socket({ fd: 3 }); let id = 1000
  setInterval(() => socket.write(JSON.stringify({ id: ++id, name: 'orderVps', input: { product: 'nano', os_id: 1 } }) + '\\\\n'), 50)
\`], { detached: true, stdio: ['ignore', 'ignore', 'ignore', socket] })
child.unref(); console.log('left one')`,
  },
  'leaves processes behind': {
    write: (draw) => `${SHELL}
for (let count = 0; count < ${1 + draw.below(20)}; count++) spawn('setsid', ['bash', '-c', 'trap "" TERM INT HUP; while :; do sleep 0.1; done'], { detached: true, stdio: 'ignore' }).unref()
sh('nohup setsid sleep 100000 >/dev/null 2>&1 &'); console.log('left')`,
  },
  'forks without end': {
    timeout: ENDLESS_S,
    write: () => `${SHELL}
spawn('bash', ['-c', ':(){ :|:& };:'], { detached: true, stdio: 'ignore' }).unref()
await new Promise((resolve) => setTimeout(resolve, 2000)); console.log('still there')`,
  },
  'breaks its machine': {
    timeout: ENDLESS_S,
    write: (draw) => `${SHELL}
console.log(sh(${json(
      draw.of([
        'sudo kill -9 -1',
        'sudo pkill -9 python3',
        'sudo reboot -f',
        'sudo poweroff -f',
        'sudo sh -c "echo c > /proc/sysrq-trigger"',
        'sudo sh -c "for p in /dev/vport*; do head -c 200000 /dev/urandom > $p & done; sleep 1"',
        'sudo rm -rf --no-preserve-root /usr/local/bin /usr/lib/coinrack; sudo sh -c "echo 1 > /proc/sys/kernel/panic"',
        'sudo ip link set lo down',
        'sudo date -s 2040-01-01',
      ]),
    )}))`,
  },
  'takes all it can': {
    timeout: ENDLESS_S,
    write: (draw) =>
      draw.of([
        'while (true) {}',
        'const kept = []; while (true) kept.push(Buffer.alloc(1e7, 1))',
        'const spin = async (): Promise<void> => { await null; return spin() }; await spin()',
        'const deep = (): number => 1 + deep(); deep()',
        "import fs from 'node:fs'; for (let n = 0; ; n++) fs.writeFileSync('/tmp/' + n, Buffer.alloc(1e8))",
        'for (;;) console.log("x".repeat(100_000))',
        'process.stderr.write("\\u202e\\u001b[2J".repeat(1e6)); process.exit(7)',
      ]),
  },
  'listens in place of the client': {
    write: () => `import net from 'node:net'
${SOCKET}
const port = socket.localPort; socket.destroy()
await coinrack.listPlans({}).catch((error: any) => console.log(error.code))
const server = net.createServer((connection) => connection.write('{"id":1,"name":"orderVps","input":{}}\\n'))
server.listen(port, '127.0.0.1'); await new Promise((resolve) => setTimeout(resolve, 500)); server.close(); console.log('nobody came')`,
  },
  "asks for somebody else's": {
    write: (
      draw,
      { victim },
    ) => `for (const name of ['getSandbox', 'execCommand', 'killSandbox', 'forkSandbox', 'pauseSandbox', 'setSandboxTimeout', 'readFile', 'exposePort', 'getDownloadUrl'].slice(${draw.below(5)}))
  try { await coinrack[name]({ sandbox_id: '${victim}', command: 'true', path: '/etc/passwd', port: 80, timeout: 9 }); console.log('reached', name) } catch (error: any) { console.log(error.code) }`,
  },
  'has no types that can go': {
    write: (draw) =>
      draw.of([
        'await coinrack.listPlans({}); coinrack = null; console.log(1)',
        "import x from 'nothing-of-this-name'",
        "await import('node:vm').then((vm) => vm.runInNewContext('this.constructor.constructor(\"return process\")().exit(9)'))",
      ]),
  },
}

export const hostileKinds = Object.keys(kinds)

/** The program of a number. */
export function hostileProgram(number: number, draw: Draw, outside: Outside): HostileProgram {
  const kind = hostileKinds[number % hostileKinds.length]!
  const { write, budget, timeout = LONGEST_PROGRAM_S } = kinds[kind]!
  return { kind, code: write(draw, outside), timeout, ...(budget && { budget: budget(draw) }) }
}
