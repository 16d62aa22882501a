import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectAgent } from '@coinrack/cli/agent.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { type CoinrackError, Sandbox } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chances } from './support/chances.ts'
import { runProcess, startCommand } from './support/command-line.ts'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { expectExactBill } from './support/sandbox-bill.ts'
import { countedBy, sandboxTraces } from './support/sandbox-traces.ts'

/*
 * The whole service with real sandboxes, as its customers reach it: by REST and as tools. One life, in order: what the
 * first test begins, the later ones go on with; at the end nothing is left, and what ran is paid to the millisecond.
 */

vi.setConfig({ testTimeout: 5 * 60_000 })

const DEPOSIT = 5_000_000n
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const chance = chances(seed)
/** In which a kill of the service comes, after what is under way has begun. */
const KILL_WITHIN_MS = 1_500

let service: RunningService
let customer: Awaited<ReturnType<typeof newCustomer>>
let options: { url: string; token: string }
let before: string[]
/** All that were made. */
const ids: string[] = []

beforeAll(async () => {
  before = await sandboxTraces('/nonexistent')
  service = await startService({ COINRACK_SANDBOXES: 'true' })
  customer = await newCustomer(service, '5')
  options = { url: service.origin, token: customer.token }
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
}, 180_000)

const known = (sandbox: Sandbox) => {
  ids.push(sandbox.id)
  return sandbox
}
const remain = async () =>
  (await sandboxTraces(service.dataFolder)).filter((trace) => !before.includes(trace))

/** After a start: until the service has opened what it found. */
const untilOpened = (sandbox: Sandbox) =>
  vi.waitUntil(
    () =>
      sandbox.exec('true').then(
        () => true,
        ({ code }: CoinrackError) => code !== 'sandboxes_unavailable',
      ),
    { timeout: 30_000, interval: 100 },
  )

let first: Sandbox
let paused: Sandbox

test('default: by REST one is made, runs commands and code, keeps files, and has a port that is reached', async () => {
  first = known(await Sandbox.create(options, { mode: 'persistent', timeout: 3600, env: { FROM: 'rest' } }))
  const kinds = new Set((await remain()).map((trace) => trace.split(' ')[0]))
  expect(kinds).toEqual(new Set(['process', 'namespace', 'users', 'links', 'group', 'folder']))
  const heard: string[] = []
  const { exit_code } = await first.exec('echo "$FROM"; id -un; exit 3', {
    onStdout: (text) => void heard.push(text),
  })
  expect(heard.join('')).toBe('rest\nuser\n')
  expect(exit_code).toBe(3)

  await first.runCode('x = 40', { context: 'python' })
  expect((await first.runCode('x + 2', { context: 'python' })).results[0]!.data['text/plain']).toBe('42')
  expect((await first.runCode('console.log(6 * 7)', { language: 'node' })).stdout).toBe('42\n')

  const bytes = new Uint8Array(2_000_000).map((_, index) => index * 31)
  expect(await first.files.write('data/bytes', bytes)).toBe(bytes.length)
  expect(Buffer.compare(Buffer.from(await first.files.read('data/bytes')), Buffer.from(bytes))).toBe(0)

  const refused = first.files.write('/tmp', new Uint8Array(20_000_000))
  await expect(refused).rejects.toMatchObject({ status: 422, code: 'file_refused' })
  const missing = first.files.read('data/none')
  await expect(missing).rejects.toMatchObject({ status: 404, code: 'file_not_found' })

  await first.start('python3 -m http.server 8123 --bind 127.0.0.1')
  const listens = 'until curl -so /dev/null 127.0.0.1:8123; do sleep 0.1; done'
  expect(await first.exec(listens, { timeout: 120 })).toMatchObject({ exit_code: 0 })
  const { path_url } = await first.expose(8123)
  expect(await (await fetch(path_url)).text()).toContain('data/')
})

test('default: as tools one is made, runs code, keeps a file and is killed', async () => {
  // The list with output schemas: elsewhere output comes as text alone.
  const agent = await connectAgent(`${service.origin}/mcp/all`)
  agent.token = customer.token
  const sandbox = await agent.call('createSandbox', { timeout: 120 })
  ids.push(sandbox.id)
  const inside = { sandbox_id: sandbox.id }
  const ran = await agent.call('runCode', { ...inside, language: 'python', code: 'print(6 * 7)' })
  expect(ran).toMatchObject({ stdout: '42\n', exit_code: 0 })
  await agent.call('writeFile', { ...inside, path: 'note', content: 'from a tool' })
  expect(await agent.call('execCommand', { ...inside, command: 'cat note' })).toMatchObject({
    stdout: 'from a tool',
  })
  expect(await agent.call('killSandbox', inside)).toMatchObject({ state: 'ended' })
  await agent.close()
})

test('default: a command with a terminal hears of its size', async () => {
  const { stdout, exit_code } = await first.exec('stty size; read a; stty size', {
    terminal: { columns: 80, rows: 24 },
    timeout: 60,
    async onStart(task) {
      await task.resize({ columns: 100, rows: 30 })
      await task.write('go\n')
    },
  })
  expect(stdout).toMatch(/30 100\r\n$/)
  expect(exit_code).toBe(0)
})

describe('the command line', () => {
  const program = join(import.meta.dirname, '../packages/cli/src/coinrack.ts')
  let home: string
  let env: Record<string, string>
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coinrack-home-'))
    await mkdir(join(home, 'bin'))
    const call = `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`
    await writeFile(join(home, 'bin/coinrack'), call, { mode: 0o755 })
    env = {
      ...{ HOME: home, COINRACK_URL: service.origin, COINRACK_TOKEN: customer.token },
      PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}`,
    }
  })
  afterAll(() => rm(home, { recursive: true, force: true }))

  test('default: the real ssh and scp are in a sandbox, by its name, with its own host key', async () => {
    const written = await runProcess(['ssh-config', '--write'], { env })
    expect(written.code, written.stderr).toBe(0)
    const config = ['-F', join(home, '.config/coinrack/ssh_config')]
    const ssh = (...words: string[]) => runProcess([...config, ...words], { env, program: ['ssh'] })
    const logged = await ssh(first.id, 'id -un; echo "$SSH_CONNECTION" | wc -w; exit 3')
    expect(logged).toMatchObject({ code: 3, stdout: expect.stringMatching(/^user\n/) })
    expect(await readFile(join(home, '.config/coinrack/known_hosts', first.id), 'utf8')).toMatch(
      new RegExp(`^${first.id} ssh-ed25519 `),
    )
    // Through the command itself, and as root.
    const asRoot = await runProcess(['ssh', `root@${first.id}`, 'id -un'], { env })
    expect(asRoot).toMatchObject({ code: 0, stdout: 'root\n' })

    // What editors do: files by SFTP, whole and unchanged, and ports that lead inside.
    const file = join(home, 'bytes')
    await writeFile(
      file,
      Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 251)),
    )
    const scp = (...words: string[]) => runProcess([...config, ...words], { env, program: ['scp'] })
    expect(await scp('-q', file, `${first.id}:there`)).toMatchObject({ code: 0 })
    expect(await scp('-q', `${first.id}:there`, `${file}-back`)).toMatchObject({ code: 0 })
    expect(Buffer.compare(await readFile(`${file}-back`), await readFile(file))).toBe(0)
    const port = await freePort()
    const tunnel = startCommand([...config, '-N', '-L', `127.0.0.1:${port}:127.0.0.1:8123`, first.id], {
      env,
      input: '',
      program: ['ssh'],
    })
    await vi.waitUntil(
      () =>
        fetch(`http://127.0.0.1:${port}/`)
          .then(({ ok }) => ok)
          .catch(() => false),
      {
        timeout: 60_000,
        interval: 200,
      },
    )
    tunnel.child.kill('SIGTERM')
    await tunnel.ended
  })

  test('default: a shell on a terminal', async () => {
    const words = ['-qec', `coinrack shell ${first.id}`, '/dev/null']
    const shell = startCommand(words, { env: { ...env, TERM: 'xterm' }, program: ['script'] })
    await shell.until('$ ')
    shell.child.stdin!.write('tty; exit 9\n')
    expect(await shell.ended).toMatchObject({ code: 9, stdout: expect.stringContaining('/dev/pts/') })
  })

  test('default: a script in a sandbox of its own', async () => {
    const ran = await runProcess(['run', '--json', '--language', 'python', '-'], {
      env,
      input: 'print(6 * 7)',
    })
    expect(ran.code, ran.stderr).toBe(0)
    const { sandbox_id, stdout } = JSON.parse(ran.stdout)
    expect(stdout).toBe('42\n')
    ids.push(sandbox_id)
    expect((await customer.getSandbox({ sandbox_id })).state).toBe('ended')
  })
})

test('default: paused it costs nothing; resumed, forked and kept as a template it goes on where it was', async () => {
  await first.pause()
  const { seconds } = await first.info()
  const counted = (await countedBy(service.dataFolder)).get(first.id)!
  expect(counted).toMatchObject({ state: 'paused', ranMs: Math.round(seconds * 1000) })
  await sleep(1_000)
  expect((await first.info()).seconds).toBe(seconds)
  await first.resume()
  expect((await first.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('40')

  const fork = known(await first.fork())
  await fork.runCode('x = 1', { context: 'python' })
  expect((await first.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('40')

  const { id: template } = await fork.snapshot('one')
  await fork.kill()
  paused = known(await Sandbox.create(options, { template, mode: 'persistent' }))
  expect((await paused.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('1')
  await paused.pause()
  await customer.deleteSandboxSnapshot({ snapshot_id: template })
})

/** Makes an archive of `docker save` of what the sandbox has itself: a shell, in two layers, of which the second takes a file away. */
const MAKE_IMAGE = `import hashlib, io, json, tarfile
def layer(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content, target in entries:
            info = tarfile.TarInfo(name)
            info.mode = 0o755
            if target: info.type, info.linkname = tarfile.SYMTYPE, target
            if name.endswith("/"): info.type = tarfile.DIRTYPE
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()
busybox = open("/bin/busybox", "rb").read()
first = layer(("bin/", b"", None), ("bin/busybox", busybox, None), ("bin/sh", b"", "busybox"), ("gone", b"x", None), ("../../../escaped", b"x", None))
second = layer((".wh.gone", b"", None), ("srv/", b"", None), ("srv/page", b"from an image", None))
config = {"config": {"Env": ["PATH=/bin", "WORD=image"], "Cmd": ["busybox", "httpd", "-f", "-p", "127.0.0.1:8200", "-h", "/srv"], "WorkingDir": "/srv"}}
with tarfile.open("image.tar", "w") as tar:
    def put(name, content):
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    def blob(content):
        digest = hashlib.sha256(content).hexdigest()
        put("blobs/sha256/" + digest, content)
        return {"digest": "sha256:" + digest, "size": len(content)}
    manifest = json.dumps({"config": blob(json.dumps(config).encode()), "layers": [blob(first), blob(second)]}).encode()
    put("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    put("index.json", json.dumps({"manifests": [blob(manifest)]}).encode())
`
const DOCKERFILE = `FROM base
ENV GREETING="from a template"
WORKDIR /srv/app
COPY --chown=user:user server.py ./
RUN useradd --create-home app && echo layered > layer
USER app
CMD ["python3", "server.py"]
`
const SERVER = `import http.server, os, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{os.environ['GREETING']} {open('layer').read()}".encode())
http.server.HTTPServer(("127.0.0.1", 8100), Page).serve_forever()
`
const builtOf = async (id: string) => {
  for (;;) {
    const template = await customer.getSandboxTemplate({ template_id: id, wait: 'built', timeout: 40 })
    if (template.build) ids.push(template.build.sandbox_id)
    if (template.status !== 'building') return template
  }
}
const logOf = async (template_id: string) =>
  (await customer.getSandboxTemplateLog({ template_id })).lines.map(({ text }) => text).join('\n')

test('default: a template of a Dockerfile is built, also by two processes, and begins with its program running', async () => {
  const { template } = await customer.createSandboxTemplate({
    name: 'app',
    dockerfile: DOCKERFILE,
    files: [{ path: 'server.py', content: SERVER }],
    ready: 'curl -sf 127.0.0.1:8100',
  })
  // In the middle of it, wherever that is.
  await vi.waitUntil(async () => /2\/3/.test(await logOf(template.id)), { timeout: 60_000, interval: 100 })
  await service.kill()
  await service.start()
  await untilOpened(first)
  const built = await builtOf(template.id)
  expect(built.status, await logOf(template.id)).toBe('ready')

  const began = performance.now()
  for (const attempt of ['from what was saved', 'as a clone']) {
    const sandbox = known(await Sandbox.create(options, { template: 'app', env: { OWN: attempt } }))
    console.log(`${attempt}: ${Math.round(performance.now() - began)} ms`)
    const { stdout } = await sandbox.exec('curl -s 127.0.0.1:8100; id -un; pwd; echo "$GREETING, $OWN"')
    expect(stdout).toBe(`from a template layered\napp\n/srv/app\nfrom a template, ${attempt}\n`)
    expect((await sandbox.runCode('6 * 7', { context: 'python' })).results[0]!.data['text/plain']).toBe('42')
    await sandbox.kill()
  }
  // All that is known is taken from the cache.
  await customer.buildSandboxTemplate({ template_id: template.id })
  expect((await builtOf(template.id)).status).toBe('ready')
  expect(await logOf(template.id)).toMatch(/cached: WORKDIR[\s\S]*cached: COPY[\s\S]*cached: RUN/)
  await customer.deleteSandboxTemplate({ template_id: template.id })
})

test('default: a template of an image archive has its files, its variables and its program', async () => {
  await first.files.write('make.py', MAKE_IMAGE)
  expect(await first.exec('python3 make.py')).toMatchObject({ exit_code: 0 })
  const archive = await first.files.read('image.tar')
  const { template } = await customer.createSandboxTemplate({ name: 'image', image: true })
  await vi.waitUntil(
    async () => (await customer.getSandbox({ sandbox_id: template.build!.sandbox_id })).state === 'running',
    { timeout: 60_000, interval: 100 },
  )
  const { url } = await customer.getSandboxTemplateUploadUrl({ template_id: template.id })
  expect((await fetch(url, { method: 'PUT', body: new Uint8Array(archive) })).status).toBe(200)
  expect((await builtOf(template.id)).status, await logOf(template.id)).toBe('ready')

  const sandbox = known(await Sandbox.create(options, { template: 'image' }))
  const { stdout } = await sandbox.exec(
    'ls /; ls -d /gone /escaped; id -u; pwd; echo $WORD; busybox wget -qO- 127.0.0.1:8200/page',
  )
  expect(stdout).toBe(
    'bin\ndev\nescaped\netc\nproc\nrun\nsrv\nsys\ntmp\n/escaped\n0\n/srv\nimage\nfrom an image',
  )
  await sandbox.files.write('/srv/page', 'written')
  expect((await sandbox.exec('busybox wget -qO- 127.0.0.1:8200/page')).stdout).toBe('written')
  await expect(sandbox.runCode('1')).rejects.toMatchObject({ code: 'unknown_language' })
  await sandbox.kill()
  await customer.deleteSandboxTemplate({ template_id: template.id })
})

test('behavior: killed at any moment, the service finds what runs and what is paused, and bills what ran', async () => {
  const counter = await first.start('while :; do echo x; sleep 0.2; done')
  const call = `coinrack.execCommand({ sandbox_id: '${first.id}', command: 'echo x >> calls' })`
  const program = customer.runProgram({ code: `for (;;) await ${call}` }).catch(() => undefined)
  const calls = async () => Number((await first.exec('touch calls; wc -l < calls')).stdout)
  await vi.waitUntil(async () => (await calls()) > 0, { timeout: 30_000, interval: 100 })
  const asked = Sandbox.create(options, { timeout: 120 }).catch(() => undefined)
  const killAfterMs = Math.round(chance.next().value! * KILL_WITHIN_MS)
  console.log(`SIGKILL after ${killAfterMs} ms (COINRACK_TEST_SEED=${seed})`)
  await sleep(killAfterMs)
  await service.kill()
  await service.start()
  await asked
  await untilOpened(first)

  // Sandboxes that ran, ran on; paused ones are as they were; requested ones are there, or were not charged.
  expect((await counter.read()).stdout.length).toBeGreaterThan(10)
  expect((await first.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('40')
  await paused.resume()
  expect((await paused.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('1')
  // A program is over: nobody carries its calls any more, and its sandbox and its token end.
  await program
  const ran = await vi.waitUntil(
    async () =>
      (await customer.listSandboxes({ state: 'ended' })).items.find(
        ({ metadata }) => metadata.started_by === 'run_program',
      ),
    { timeout: 30_000, interval: 100 },
  )
  ids.push(ran.id)
  const made = await calls()
  await sleep(1_000)
  expect(await calls()).toBe(made)
  expect((await customer.listTokens({})).items.filter(({ kind }) => kind === 'program')).toEqual([])

  const others = (await customer.listSandboxes({})).items.filter(({ id }) => !ids.includes(id))
  for (const { id } of others) {
    known(Sandbox.connect(options, id))
    expect(await customer.getSandbox({ sandbox_id: id, wait: 'running' })).toMatchObject({ state: 'running' })
  }

  await first.pause()
  const { ranMs } = (await countedBy(service.dataFolder)).get(first.id)!
  expect((await first.info()).seconds).toBe(ranMs / 1000)
})

test('behavior: the end of the installation ends what runs and keeps what is paused', async () => {
  const runs = known(await Sandbox.create(options))
  await service.operatorStop()
  expect((await remain()).filter((trace) => !/^(folder|users)/.test(trace))).toEqual([])
  await service.start()
  await untilOpened(first)
  await vi.waitUntil(async () => (await runs.info()).state === 'ended', { timeout: 60_000, interval: 200 })
  expect((await runs.info()).reason).toBe('crashed')
  await first.resume()
  expect((await first.runCode('x', { context: 'python' })).results[0]!.data['text/plain']).toBe('40')
})

test('behavior: after the last one nothing is left, and exactly what ran is paid', async () => {
  await Promise.all(ids.map((id) => customer.killSandbox({ sandbox_id: id })))
  await expectExactBill(customer, DEPOSIT, ids)
  await service.end()
  // Only what COPY and RUN of the Dockerfile made is kept, for a next build.
  expect(await remain()).toEqual(Array(2).fill(expect.stringMatching(/^folder snp_/)))
})
