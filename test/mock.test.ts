import { createMock, failures, type Mock, type Program, type Run } from '@coinrack/mock/index.ts'
import {
  type ClientOptions,
  CoinrackError,
  ConnectionError,
  createClient,
  NeverError,
  Sandbox,
  Vps,
  waitForInvoice,
} from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

/*
 * The mock for tests of buyers: the same calls to it and to a service have the same answers, and it goes wrong as it is told to.
 */

/** What a service and its mock are made to do from outside, by their own means. */
interface World {
  options: ClientOptions
  /** Machines have booted, and what was begun is done. */
  ready(): Promise<void>
  advance(milliseconds: number): Promise<void>
  /** The options of another account, which has nothing. */
  poor(): Promise<ClientOptions>
}

const utf8 = (text: string) => new TextEncoder().encode(text)

/** What the programs of the comparison do in a shell. */
function programs({ text, files, input }: Run) {
  if (text === 'echo one; echo two >&2; exit 3') return { stdout: 'one\n', stderr: 'two\n', exit_code: 3 }
  if (text === 'cat') return { stdout: input }
  if (text === 'cat data/note.txt > copy.txt')
    files.set('/home/user/copy.txt', files.get('/home/user/data/note.txt')!)
  if (text === 'read a; echo "got $a"') return { onInput: (typed: string) => `got ${typed}` }
  return undefined
}

/** What code does there: its one expression. */
const codes = (): Program => ({ results: [{ data: { 'text/plain': '42' }, is_main: true }] })

/** Everything that is compared: each answer, or refusal, in order. */
async function play({ options, ready, advance, poor }: World): Promise<unknown[]> {
  const told: unknown[] = []
  const refusal = (error: unknown) => {
    if (!(error instanceof CoinrackError)) throw error
    const { code, status, fix, retryAfter, body } = error
    return { code, status, fix, retryAfter, fields: Object.keys(body).sort() }
  }
  const note = async (what: string, answer: unknown) =>
    void told.push([what, await Promise.resolve(answer).then(masked, refusal)])
  const coinrack = createClient(options)
  const { items: plans } = await coinrack.listPlans()
  const { description: _text, ...plan } = plans[0]!
  await note('plan', plan)
  await note(
    'registered',
    createClient({ ...options, token: undefined }).registerAccount({ email: 'compared@rackmail.net' }),
  )
  await note('balance', coinrack.getBalance())

  const { invoice } = await coinrack.topupBalance({ amount: 5 })
  await note('top-up', coinrack.getInvoice({ invoice_id: invoice.id }))
  await note('second top-up', coinrack.topupBalance({ amount: '6.00' }))
  await note('cancelled', coinrack.cancelInvoice({ invoice_id: invoice.id }))
  await note('invoices', coinrack.listInvoices({ status: 'cancelled' }))

  await note('unknown plan', coinrack.orderVps({ product: 'none', os_id: 1 }))
  await note('unknown image', coinrack.orderVps({ product: 'nano', os_id: 99 }))
  await note('too dear', coinrack.orderVps({ product: 'nano', os_id: 1, max_price: 1 }))
  await note('no plan', coinrack.orderVps({ product: 7 as never, os_id: 1 }))
  await note('a quote', coinrack.orderVps({ product: 'nano', os_id: 1, hostname: 'compared', dry_run: true }))
  const key = { idempotencyKey: 'compared' }
  const order = await coinrack.orderVps({ product: 'nano', os_id: 1, hostname: 'compared' }, key)
  await note('order', order)
  await note('the same order', coinrack.orderVps({ product: 'nano', os_id: 1, hostname: 'compared' }, key))
  await note(
    'another with its key',
    coinrack.orderVps({ product: 'nano', os_id: 2, hostname: 'compared' }, key),
  )
  await note('held', coinrack.getBalance())
  await ready()
  const service = { service_id: order.service_id! }
  await note('reveals later', coinrack.getVpsStatus({ ...service, reveal: false }))
  await note('ready', coinrack.getVpsStatus({ ...service, wait: 'ssh_ready', timeout: 1 }))
  await note('shown once', coinrack.getVpsStatus(service))
  await note('order of it', coinrack.getOrder({ order_id: order.id }))
  await note('orders', coinrack.listOrders())
  await note('paid', coinrack.getBalance())
  await note('file', coinrack.writeVpsFile({ ...service, path: '/root/a', content: 'text' }))
  await note('read', coinrack.readVpsFile({ ...service, path: '/root/a' }))
  await note('no file', coinrack.readVpsFile({ ...service, path: '/root/b' }))
  const { operation } = await coinrack.powerVps({ ...service, action: 'stop' })
  await ready()
  await note('stopped', coinrack.getVpsStatus(service))
  await note('work', coinrack.getOperation({ operation_id: operation.id, wait: 'done', timeout: 1 }))
  await note('unconfirmed', coinrack.cancelService({ ...service, mode: 'immediate' }))
  const { credited } = await coinrack.cancelService({ ...service, mode: 'immediate', confirm: 'compared' })
  await ready()
  await note('credited', { credited })
  await note('no VPS', coinrack.listVps())

  const sandbox = await Sandbox.create(options, { metadata: { a: 'b' }, timeout: 600, idle_timeout: 300 })
  await note('sandbox', sandbox.info())
  await note('minute held', coinrack.getBalance())
  await note('command', sandbox.exec('echo one; echo two >&2; exit 3'))
  await note('typed', sandbox.exec('cat', { stdin: 'typed' }))
  await note('written', sandbox.files.write('data/note.txt', utf8('note')))
  await sandbox.exec('cat data/note.txt > copy.txt')
  await note('copied', sandbox.files.text('copy.txt'))
  await note('read as JSON', coinrack.readFile({ sandbox_id: sandbox.id, path: 'copy.txt', offset: 1 }))
  const listed = (await sandbox.files.list('.', { depth: 2 })).map(({ path, type }) => `${type} ${path}`)
  await note(
    'listed',
    listed.filter((line) => /data|copy/.test(line)),
  )
  await note('by the operation', coinrack.writeFile({ sandbox_id: sandbox.id, path: 'b', content: 'b' }))
  await note('deleted', coinrack.deleteFile({ sandbox_id: sandbox.id, path: 'b' }))
  await note('missing', sandbox.files.read('missing'))
  await note('a folder', sandbox.files.makeFolder('new/inner'))
  await note('the same folder', sandbox.files.makeFolder('new/inner'))
  await note('a file in the way', sandbox.files.makeFolder('copy.txt/inner'))
  await note('moved', sandbox.files.move('copy.txt', 'other/moved.txt'))
  await note('moved folder', sandbox.files.move('new', 'other/new'))
  const inOther = async () =>
    (await sandbox.files.list('other', { depth: 2 })).map(({ path, type }) => `${type} ${path}`)
  await note('in it', inOther())
  await note('no such file', sandbox.files.move('none', 'some'))
  await note('no folder to watch', sandbox.files.watch('none'))
  const changes = await sandbox.files.watch('other', { recursive: true })
  await sandbox.files.write('other/new/x', 'x')
  const changed: string[] = []
  for await (const { path } of changes) {
    changed.push(path)
    if (path === 'new/x') break
  }
  await note('change', changed.at(-1))
  await note('context', sandbox.contexts.create('mine', { cwd: '/tmp' }))
  await note('other language', sandbox.contexts.create('mine', { language: 'node' }))
  await note('contexts', sandbox.contexts.list())
  await note('emptied', sandbox.contexts.restart('mine'))
  await note('not there', sandbox.contexts.restart('none'))
  await note('deleted context', sandbox.contexts.remove('mine'))
  const heard: unknown[] = []
  await note('code', sandbox.runCode('6 * 7', { onResult: (result) => heard.push(result) }))
  await note('heard', heard)
  const code = await sandbox.startCode('6 * 7')
  await note('code in the background', code.wait({ onResult: (result) => heard.push(result) }))
  await note('heard again', heard)
  await note('all ports', sandbox.exposeAll())
  await note('no ports', sandbox.exposeAll('none'))
  const task = await sandbox.start('read a; echo "got $a"')
  await note(
    'running',
    task.read().then(({ running, stdout }) => ({ running, stdout })),
  )
  await task.write('it\n', { end: true })
  await note('ended', task.wait())
  await note('typed too late', task.write('more'))
  await note('no task', sandbox.task('tsk_none').read())
  await note('exposed', sandbox.expose(8000))
  await note('ports', Array.fromAsync(sandbox.ports()))
  await advance(60_000)
  await note('a minute', sandbox.info())
  await note('set', sandbox.setTimeout(900))
  await note('rules', sandbox.setNetwork({ allow_internet: false, allow_out: ['pypi.org'] }))
  await note('snapshot', sandbox.snapshot('kept'))
  const copy = await sandbox.fork()
  await note('copy', copy.info())
  await note(
    'first page',
    coinrack.listSandboxes({ limit: 1 }).then(({ items, nextCursor }) => [items, typeof nextCursor]),
  )
  await note(
    'all',
    Array.fromAsync(Sandbox.list(options, { limit: 1 }), ({ id }) => id === sandbox.id),
  )
  await copy.kill()
  await note('paused', sandbox.pause())
  await note('asleep', sandbox.exec('cat'))
  await note('resumed', sandbox.resume())
  await note(
    'idle',
    advance(300_000).then(() => sandbox.info()),
  )
  await note('over', sandbox.resume())
  await note('killed again', sandbox.kill())
  await note('balance at the end', coinrack.getBalance())

  const other = await poor()
  await note('not theirs', Sandbox.connect(other, sandbox.id).info())
  await note('unknown', Sandbox.connect(options, 'sbx01kabcdefghjkmnpqrstvwxyz0').info())
  await note('no money', createClient(other).orderVps({ product: 'nano', os_id: 1 }))
  await note('no minute', Sandbox.create(other))
  await note('no token', createClient({ ...options, token: 'crk_wrong' }).getBalance())
  return told
}

/** Words for what differs from one run to the next. */
const KINDS = 'acc|tok|inv|ord|vps|txn|op|snp|tsk'
function masked(value: unknown): unknown {
  const text = JSON.stringify(value, (name, inner) => {
    if (typeof inner === 'bigint') return `${inner}n`
    if (['progress', 'description', 'message', 'token', 'root_password', 'address'].includes(name))
      return typeof inner
    if (['duration_ms', 'port', 'ssh_port', 'size_mb'].includes(name)) return typeof inner
    if (['known_hosts', 'payments', 'payment_options', 'quote'].includes(name))
      return Object.keys(inner ?? {})
    if (['command', 'url', 'path_url', 'checkout_url', 'hostname'].includes(name)) return typeof inner
    return inner
  })
  return JSON.parse(
    (text ?? 'null')
      .replace(new RegExp(`\\b(${KINDS})_[0-9a-z]{26}|\\b(sbx)[0-9a-z]{26}`, 'g'), '<$1$2>')
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<time>"'),
  )
}

describe('beside a service', () => {
  let service: TestService
  let url: string
  beforeAll(async () => {
    service = await startTestService({ env: { COINRACK_RATE_SANDBOXES: '100/min' } })
    url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => service?.close())

  const real = async (): Promise<World> => ({
    options: { url, token: (await service.customer(20_000_000n)).token },
    ready: () => service.reconcile(),
    async advance(milliseconds) {
      service.clock.advance(milliseconds)
      await service.reconcileSandboxes()
    },
    poor: async () => ({ url, token: (await service.customer()).token }),
  })
  const mocked = (): World => {
    const mock = createMock({ onCommand: programs, onCode: codes })
    return {
      options: mock.options,
      ready: async () => mock.advance(5_000),
      advance: async (milliseconds) => mock.advance(milliseconds),
      async poor() {
        const { options } = mock
        const { token } = await createClient(options).registerAccount({ email: 'poor@rackmail.net' })
        return { ...options, token }
      },
    }
  }

  test('default: the same calls have the same answers', async () => {
    const theirs = await play(await real())
    expect(await play(mocked())).toEqual(theirs)
  }, 120_000)

  test('default: a refusal for now has the same form', async () => {
    const env = { COINRACK_RATE_SANDBOXES: '1/min' }
    const busy = await startTestService({ env })
    try {
      const options = {
        url: await busy.app.listen({ host: '127.0.0.1', port: 0 }),
        ...{ token: (await busy.customer(1_000_000n)).token, retry: { attempts: 1 } },
      }
      await Sandbox.create(options)
      const theirs = (await Sandbox.create(options).catch((error) => error)) as CoinrackError
      const mock = createMock()
      mock.fail('createSandbox', failures.rateLimited(theirs.retryAfter))
      const ours = (await Sandbox.create({ ...mock.options, retry: { attempts: 1 } }).catch(
        (error) => error,
      )) as CoinrackError
      const formOf = ({ code, status, fix, retryAfter }: CoinrackError) => ({ code, status, fix, retryAfter })
      expect(formOf(ours)).toEqual(formOf(theirs))
      expect(Object.keys(ours.body).sort()).toEqual(Object.keys(theirs.body).sort())
    } finally {
      await busy.close()
    }
  })
})

describe('what goes wrong', () => {
  let mock: Mock
  beforeEach(() => {
    mock = createMock({ onCommand: programs })
  })
  const statuses = () => mock.calls.map(({ operation, status }) => `${operation} ${status}`)

  test('default: 429 is waited for as it says, on the clock of the mock', async () => {
    mock.fail('orderVps', failures.rateLimited(30))
    const before = mock.now().getTime()
    await createClient(mock.options).orderVps({ product: 'nano', os_id: 1 })
    expect(statuses()).toEqual(['orderVps 429', 'orderVps 200'])
    expect(mock.now().getTime() - before).toBe(30_000)
  })

  test('default: an answer that is lost is asked for again, and the order is one', async () => {
    mock.fail('orderVps', failures.answerLost())
    const coinrack = createClient(mock.options)
    const { id } = await coinrack.orderVps({ product: 'nano', os_id: 1 })
    expect((await coinrack.listOrders()).items.map((order) => order.id)).toEqual([id])
    expect((await coinrack.getBalance()).balance).toBe(17_000_000n)
  })

  test('default: sold out for longer than is waited for, or without money, an order is refused', async () => {
    mock.fail('orderVps', failures.soldOut(3600))
    await expect(Vps.order(mock.options, { product: 'nano', os_id: 1 })).rejects.toMatchObject({
      ...{ code: 'capacity', status: 503, retryAfter: 3600 },
    })
    mock.fail('any', failures.noCredit('3.00'))
    await expect(Vps.order(mock.options, { product: 'nano', os_id: 1 })).rejects.toMatchObject({
      ...{ code: 'insufficient_balance', body: { shortfall: '3.00' } },
    })
    mock.setBalance(0n)
    await expect(Sandbox.create(mock.options)).rejects.toMatchObject({ code: 'insufficient_balance' })
  })

  test('default: an order that waits for money begins once its invoice is paid', async () => {
    mock.setBalance(0n)
    const unpaid = await Vps.order(mock.options, { product: 'nano', os_id: 1 }).catch((error) => error)
    const { id } = unpaid.body.invoice
    mock.pay(id)
    const coinrack = createClient(mock.options)
    const { service_id } = await waitForInvoice(coinrack, id)
    const { root_password } = await Vps.connect(mock.options, service_id!).waitUntilReady()
    expect(root_password).toEqual(expect.any(String))
    expect((await coinrack.getBalance()).total).toBe(0n)
  })

  test('default: machines that take long are waited for in no time, and ones that fail are told', async () => {
    mock.bootSeconds(900)
    const vps = await Vps.order(mock.options, { product: 'nano', os_id: 1 })
    const seen: string[] = []
    await vps.waitUntilReady({ onChange: ({ status }) => seen.push(status) })
    expect(seen.at(-1)).toBe('active')
    expect(seen.length).toBeGreaterThanOrEqual(18)
    mock.failProvisioning('no host could make it')
    const failed = await Vps.order(mock.options, { product: 'nano', os_id: 1 })
    await expect(failed.waitUntilReady()).rejects.toThrow(NeverError)
    expect((await createClient(mock.options).getBalance()).total).toBe(17_000_000n)
  })

  test('default: a sandbox ends with its balance, and with its host', async () => {
    mock.setBalance(1_000n)
    const sandbox = await Sandbox.create(mock.options, { timeout: 86_400, idle_timeout: 0 })
    mock.advance(3_600_000)
    expect(await sandbox.info()).toMatchObject({ state: 'ended', reason: 'balance', cost: 1_000n })
    mock.setBalance(1_000_000n)
    const other = await Sandbox.create(mock.options)
    mock.loseHost(other.id)
    expect(await other.info()).toMatchObject({ state: 'ended', reason: 'host_lost' })
    await expect(other.exec('cat')).rejects.toMatchObject({ code: 'sandbox_not_running' })
  })

  test('default: a stream is cut in its middle; a service is away, or a gateway answers for it', async () => {
    const sandbox = await Sandbox.create(mock.options)
    mock.fail('execCommand', failures.cutInTheMiddle())
    await expect(sandbox.exec('echo one; echo two >&2; exit 3')).rejects.toThrow(ConnectionError)
    mock.fail('any', failures.unreachable(), 4)
    expect((await sandbox.info()).state).toBe('running')
    mock.fail('getSandbox', failures.badGateway(), 5)
    await expect(sandbox.info()).rejects.toMatchObject({ code: 'unexpected_answer', status: 502 })
    mock.fail('killSandbox', failures.refusal('sandboxes_unavailable', { retry_after: 1 }), 2)
    expect((await sandbox.kill()).state).toBe('ended')
  })

  test('behavior: a program in a terminal is typed into, and ends with its signal', async () => {
    const sandbox = await Sandbox.create(mock.options)
    mock.onCommand(() => ({ stdout: '> ', onInput: (text) => (text === 'exit\n' ? undefined : `${text}> `) }))
    const { stdout, exit_code } = await sandbox.exec('sh', {
      terminal: { columns: 80, rows: 24 },
      stdin: ['one\n', 'exit\n'],
    })
    expect([stdout, exit_code]).toEqual(['> one\n> ', 0])
    const work = sandbox.exec('sh', { onStart: () => {}, signal: AbortSignal.timeout(20) })
    await expect(work).rejects.toMatchObject({ name: 'TimeoutError' })
    mock.onCode(() => ({ error: { name: 'ValueError', value: 'no', traceback: '' } }))
    expect(await sandbox.runCode('x')).toMatchObject({ exit_code: 1, error: { name: 'ValueError' } })
  })

  test('default: who watches a folder is told of all that changes, and of the end', async () => {
    const sandbox = await Sandbox.create(mock.options)
    await sandbox.files.write('a/b', 'b')
    const changes = await sandbox.files.watch('.', { recursive: true })
    await sandbox.files.write('a/b', 'other')
    await sandbox.files.move('a', 'c')
    await sandbox.files.makeFolder('d')
    const told: string[] = []
    for await (const { type, path } of changes) {
      told.push(`${type} ${path}`)
      if (path === 'd') break
    }
    expect(told).toEqual([
      ...['written a/b', 'removed a/b', 'removed a'],
      ...['created c', 'created c/b', 'written c/b', 'created d'],
    ])
    const others = await sandbox.files.watch()
    await sandbox.kill()
    await expect(others.next()).rejects.toMatchObject({ code: 'sandbox_not_running' })
  })

  test('behavior: an operation that it does not know is answered by the test, as the contract has it', async () => {
    const coinrack = createClient(mock.options)
    await expect(coinrack.listReviews()).rejects.toThrow("mock.answer('listReviews'")
    mock.answer('listReviews', () => ({
      rating: { average: 5, count: 1, distribution: { 5: 1 } },
      reviews: [],
    }))
    expect((await coinrack.listReviews()).rating.average).toBe(5)
    mock.answer('listReviews', () => ({ rating: 'five' }) as never)
    await expect(coinrack.listReviews()).rejects.toThrow('is not of the contract')
  })
})
