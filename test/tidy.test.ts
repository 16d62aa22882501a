import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { describe, expect, test } from 'vitest'
import {
  importsOf,
  isForTests,
  repositoryFiles,
  resolveImport,
  root,
  type Source,
} from './support/sources.ts'

/*
 * The rules of ARCHITECTURE.md that a program can check, a rule a row. A rule that has to give way is changed here,
 * where everybody sees it.
 */

const files = repositoryFiles()
const code = files.filter(({ path }) => /\.(ts|mjs)$/.test(path) && !path.includes('/generated/'))
const product = code.filter(({ path }) => !isForTests(path))
const inServer = (path: string) => /^packages\/server\/src\/(.+)$/.exec(path)?.[1]

/** `path:line: text` of each line that matches. */
const linesThat = (sources: Source[], matches: (line: string, path: string) => boolean) =>
  sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (matches(line, path) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )

describe('arrows between packages', () => {
  const mayImport: Record<string, string[]> = {
    contract: [],
    money: [],
    host: [],
    sdk: ['contract'],
    mock: ['sdk', 'contract'],
    web: ['contract'],
    cli: ['sdk', 'contract', 'host'],
    compute: ['host'],
    // The program of a host has no way into the service.
    'sandbox-host': ['compute', 'contract', 'host'],
    // It serves the pages of `web`.
    server: ['contract', 'money', 'compute', 'host', 'web'],
  }

  test.each(Object.entries(mayImport))('%s imports no other of ours than %j', (name, allowed) => {
    const wrong = product
      .filter(({ path }) => path.startsWith(`packages/${name}/`))
      .flatMap((source) => importsOf(source).map((written) => ({ path: source.path, written })))
      .filter(({ written }) => written.startsWith('@coinrack/') || written.includes('packages/'))
      .filter(({ written }) => ![name, ...allowed].includes(written.split('/')[1]!))
    expect(wrong).toEqual([])
  })

  test('every package is in the table', () => {
    const names = new Set(product.flatMap(({ path }) => /^packages\/([\w-]+)\/src\//.exec(path)?.[1] ?? []))
    expect([...names].filter((name) => !(name in mayImport))).toEqual([])
  })

  const packageOf = (written: string) => written.split('/', written.startsWith('@') ? 2 : 1).join('/')
  const declaredBy = (name: string): Record<string, string> => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'),
    )
    return { ...dependencies, ...optionalDependencies }
  }

  test.each(Object.keys(mayImport))('%s declares every package that its product imports', (name) => {
    const imported = product
      .filter(({ path }) => path.startsWith(`packages/${name}/src/`))
      .flatMap(importsOf)
      .filter((written) => !/^(\.|node:|internal:)/.test(written))
      .map(packageOf)
      .filter((written) => written !== `@coinrack/${name}`)
    const declared = declaredBy(name)
    expect([...new Set(imported)].filter((each) => !(each in declared))).toEqual([])
  })

  test('what several packages depend on has one version', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const all = [devDependencies, ...Object.keys(mayImport).map(declaredBy)].flatMap(Object.entries)
    const versions = Map.groupBy(all, ([name]) => name)
    const several = [...versions].filter(([, each]) => new Set(each.map(([, version]) => version)).size > 1)
    expect(several).toEqual([])
  })

  test('contract knows only zod; money knows nothing', () => {
    const foreign = (name: string) =>
      product
        .filter(({ path }) => path.startsWith(`packages/${name}/src/`))
        .flatMap(importsOf)
        .filter((written) => !written.startsWith('.'))
    expect([...new Set(foreign('contract'))]).toEqual(['zod'])
    expect(foreign('money')).toEqual([])
  })
})

describe('arrows inside compute', () => {
  const inCompute = (path: string) => /^packages\/compute\/src\/(.+)$/.exec(path)?.[1]
  const roomOf = (path: string) => path.split('/')[0]!
  /** The rooms that each room may import beside itself. */
  const mayImport: Record<string, string[]> = {
    ports: [],
    images: ['ports'],
    network: ['ports'],
    personality: ['ports'],
    'scripted-guest': ['personality', 'ports'],
    machine: ['personality', 'network', 'images', 'ports'],
    'local-vps': ['machine', 'scripted-guest', 'personality', 'network', 'images', 'ports'],
    sandbox: ['machine', 'network', 'images', 'ports'],
    incus: ['scripted-guest', 'personality', 'images', 'ports'],
    'remote-sandboxes': ['ports'],
    fake: ['ports'],
  }
  const sources = product.filter(({ path }) => inCompute(path))

  test.each(Object.entries(mayImport))('%s imports itself and %j', (room, allowed) => {
    const wrong = sources
      .filter(({ path }) => roomOf(inCompute(path)!) === room)
      .flatMap((source) => importsOf(source).map((written) => ({ path: source.path, written })))
      .flatMap(({ path, written }) => {
        const to = inCompute(resolveImport(path, written) ?? '')
        return to && ![room, ...allowed].includes(roomOf(to)) ? [`${path} -> ${to}`] : []
      })
    expect(wrong).toEqual([])
  })

  test('every file is in a room', () => {
    const outside = sources.filter(({ path }) => !(roomOf(inCompute(path)!) in mayImport))
    expect(outside.map(({ path }) => path)).toEqual([])
  })
})

describe('arrows inside the server', () => {
  /** The rooms that every slice stands on; of `transport` only its routes take anything. */
  const floor = ['platform', 'dispatch', 'database', 'config', 'transport']
  /** The rooms that each may import beside itself. `process` and `operator` assemble the service, so know all of it. */
  const below: Record<string, string[]> = {
    'data-folder': ['platform'],
    config: ['platform', 'database'],
    platform: ['config', 'database', 'chain', 'dispatch'],
    database: ['data-folder', 'platform'],
    chain: ['config'],
    ledger: ['database', 'platform'],
    dispatch: ['platform', 'config', 'database', 'account'],
    account: [...floor, 'ledger', 'chain'],
    // The page of an approval stands behind the proof of who somebody is.
    approvals: [...floor, 'ledger', 'account'],
    balance: [...floor, 'ledger'],
    hosts: ['platform', 'database', 'replicas'],
    catalog: [...floor, 'hosts'],
    guide: [...floor, 'ledger'],
    payments: [...floor, 'ledger', 'chain'],
    vps: [...floor, 'ledger', 'hosts'],
    sandboxes: [...floor, 'ledger', 'hosts'],
    events: floor,
    support: floor,
    delegations: floor,
    replicas: ['platform', 'database'],
    'sandbox-hosts': ['platform', 'database', 'hosts'],
    transport: ['platform', 'dispatch', 'config', 'replicas'],
  }
  const arrows = product.flatMap((source) => {
    const from = inServer(source.path)
    if (!from) return []
    return importsOf(source)
      .flatMap((written) => inServer(resolveImport(source.path, written) ?? '') ?? [])
      .map((to) => ({ from, to }))
  })
  /** Which rooms write each table. */
  const arrowsToTables = () => {
    const written = new Map<string, Set<string>>()
    for (const { path, text } of product) {
      const from = inServer(path)
      if (!from?.endsWith('.ts')) continue
      const writes = text.matchAll(
        /\b(?:insert into|update|delete from) (?!set\b)([a-z][a-z0-9_]*)(?= (?:set|as|using|where|values)\b|[ \n]*\(|\s*$)/gm,
      )
      for (const [, table] of writes) {
        const rooms = written.get(table!) ?? new Set()
        written.set(table!, rooms.add(partOf(from)))
      }
    }
    return written
  }
  const partOf = (path: string) => (path.includes('/') ? path.split('/')[0]! : '')

  test.each(Object.entries(below))('%s imports itself and %j', (part, allowed) => {
    const wrong = arrows
      .filter(({ from }) => partOf(from) === part)
      .filter(({ to }) => ![part, ...allowed].includes(partOf(to)))
      .map(({ from, to }) => `${from} -> ${to}`)
    expect(wrong).toEqual([])
  })

  test('every file is in a room', () => {
    const rooms = [...Object.keys(below), 'process', 'operator']
    const outside = product
      .flatMap(({ path }) => inServer(path) ?? [])
      .filter((path) => !rooms.includes(partOf(path)))
    expect(outside).toEqual([])
  })

  test('only main, what serves for it, testing and the operator construct', () => {
    const constructing =
      /\b(openPool|listenForChanges|createQemuDriver|createFakeDriver|startEmbeddedPostgres|startDemoChains|createApp|createReadiness|fileMailer|smtpMailer)\(/
    const allowed =
      /^packages\/server\/src\/(process\/(main|local-machines|serve|testing|stop)|chain\/configured-chains)\.ts$|^packages\/server\/src\/operator\/|^bench\//
    const wrong = linesThat(
      product.filter(({ path }) => !allowed.test(path)),
      (line) => constructing.test(line) && !/function \w+\(/.test(line),
    )
    expect(wrong).toEqual([])
  })

  test.each([
    ['vps_identity', ['vps/machine/vps-store.ts']],
    ['vps_machine', ['vps/machine/', 'vps/network/']],
    ['vps_billing', ['vps/billing/', 'vps/machine/vps-store.ts']],
  ])('%s is written by %j', (table, places) => {
    const writes = new RegExp(`\\b(insert into|update|delete from) ${table}\\b`)
    const writing = product
      .filter(({ text }) => writes.test(text))
      .flatMap(({ path }) => inServer(path) ?? [])
    expect(writing.length).toBeGreaterThan(0)
    expect(writing.filter((path) => !places.some((place) => path.startsWith(place)))).toEqual([])
  })

  test('billing changes nothing of a machine but whether it is there and on', () => {
    const wrong = linesThat(
      product.filter(({ path }) => inServer(path)?.startsWith('vps/billing/')),
      (line) => /\bupdateMachine\b/.test(line),
    )
    expect(wrong).toEqual([])
  })

  test('each table is written by one slice', () => {
    const shared = ['platform', 'database', 'dispatch', 'ledger']
    const written = arrowsToTables()
    const several = [...written].flatMap(([table, rooms]) => {
      const slices = [...rooms].filter((room) => !shared.includes(room))
      return slices.length > 1 || (rooms.has('ledger') && rooms.size > 1) ? [`${table}: ${[...rooms]}`] : []
    })
    expect(several).toEqual([])
    expect(written.size).toBeGreaterThan(40)
  })

  test('entries of the ledger are written in one place', () => {
    const wrong = linesThat(
      product.filter(({ path }) => inServer(path) && inServer(path) !== 'ledger/post.ts'),
      (line) => /(insert into|update|delete from) (ledger_|customer_balance)/.test(line),
    )
    // A new account opens its balance at zero.
    expect(wrong.map((line) => line.split(':')[0])).toEqual(['packages/server/src/ledger/balance.ts'])
  })
})

describe('words that belong to few', () => {
  const worldly =
    /^(packages\/server\/src\/process\/(main|stop)\.ts|packages\/server\/src\/operator\/|packages\/cli\/|packages\/sandbox-host\/src\/main\.ts|scripts\/|bench\/|vitest\.config\.ts)/
  const nowhere = /$^/
  const rows: { word: string; pattern: RegExp; where: RegExp }[] = [
    { word: 'Date.now()', pattern: /\bDate\.now\(/, where: worldly },
    { word: 'new Date()', pattern: /\bnew Date\(\)/, where: worldly },
    { word: 'Math.random()', pattern: /\bMath\.random\(/, where: nowhere },
    {
      word: 'process.env',
      pattern: /\bprocess\.env\b/,
      where: new RegExp(`${worldly.source}|^packages/host/src/environment\\.ts`),
    },
    {
      word: 'fetch',
      // A call of the global, not of a member, and not in a comment.
      pattern: /^(?!\s*(\/\/|\*|\/\*)).*(?<![.\w])(globalThis\.)?fetch\((?!url, \{ method)/,
      where: new RegExp(
        `${worldly.source}|^packages/sdk/src/world\\.ts|^packages/compute/src/images/|^packages/server/src/chain/read-logs\\.ts`,
      ),
    },
    {
      // After a commit, or out of the queue: nowhere else can a slow mail server hold up a transaction.
      word: 'mailer.send()',
      pattern: /\bmailer\.send\(/,
      where: /^packages\/server\/src\/(platform\/queue-mail|account\/request-login-code)\.ts$/,
    },
    {
      // There it refuses to run inside a transaction.
      word: 'scrypt',
      pattern: /\bscrypt(Sync)?\b/,
      where: /^packages\/server\/src\/account\/password\.ts$/,
    },
    {
      // Each refuses to run inside a transaction, or is reached before there is a service.
      word: 'runCommand() in the service',
      pattern: /\brunCommand\(/,
      where:
        /^packages\/server\/src\/(data-folder\/data-folder|database\/(embedded|postgres-binaries)|vps\/(machine\/root-password|network\/rdns\/nsupdate))\.ts$|^(?!packages\/server\/)/,
    },
    {
      word: 'isFreePort() in the service',
      pattern: /\bisFreePort\(/,
      where: /^packages\/server\/src\/vps\/orders\/ask-host\.ts$|^(?!packages\/server\/)/,
    },
    { word: 'parseFloat', pattern: /\bparseFloat\(/, where: nowhere },
    { word: 'as any', pattern: /\bas any\b/, where: nowhere },
    { word: '@ts-ignore', pattern: /@ts-(ignore|nocheck|expect-error)/, where: nowhere },
  ]

  test.each(rows)('$word', ({ pattern, where }) => {
    const sources = product.filter(({ path }) => !where.test(path))
    expect(linesThat(sources, (line) => !/^\s*(\/\/|\/?\*)/.test(line) && pattern.test(line))).toEqual([])
  })

  test('what customers run uses nothing that Node 20 does not have', () => {
    const newer =
      /\.(toHex|toBase64|setFrom(Hex|Base64)|symmetricDifference|is(Subset|Superset|Disjoint)(Of|From)|getOrInsert\w*)\(|\b(URL\.parse|Array\.fromAsync|(Map|Object)\.groupBy|Promise\.(withResolvers|try)|Iterator\.\w+|RegExp\.escape|Error\.isError|Uint8Array\.from(Hex|Base64)|Math\.sumPrecise)\b|\.(values|keys|entries)\(\)\.(map|filter|take|drop|flatMap|reduce|toArray|forEach|some|every|find)\(|^\s*(await )?using \w+ =/
    const theirs = product.filter(({ path }) => /^packages\/(sdk|mock|cli|contract)\//.test(path))
    expect(linesThat(theirs, (line) => !/^\s*(\/\/|\/?\*)/.test(line) && newer.test(line))).toEqual([])
  })

  test('.only', () => {
    const self = 'test/tidy.test.ts'
    const tests = code.filter(({ path }) => isForTests(path) && path !== self)
    expect(linesThat(tests, (line) => /\b(test|it|describe)(\.\w+)*\.(only|skip|todo)\b/.test(line))).toEqual(
      [],
    )
  })
})

describe('what needs root', () => {
  const words: Record<string, RegExp> = {
    nft: /'nft'|\bnft -/,
    ip: /'ip'|\bip (netns|link|tuntap|address|route|-n)\b/,
    tc: /'tc'|\btc (qdisc|-)/,
    nsenter: /'nsenter'|\bnsenter --/,
    unshare: /'unshare'|\bunshare -/,
    '/proc/sys': /\/proc\/sys\/net\//,
    '/dev/net/tun': /\/dev\/net\/tun/,
    cgroup: /['/]cgroup\./,
    chown: /\bl?f?chown(Sync)?\(|\bchown "|\binstall .*-o "/,
    mount: /'u?mount'|^\s*u?mount /,
    chroot: /'chroot'|\bchroot "/,
    mmdebstrap: /^mmdebstrap |runCommand\('mmdebstrap'/,
    setpriv: /'setpriv'|\bsetpriv --/,
    useradd: /'useradd'/,
    'apt-get': /'apt-get'/,
    setuid: /\.(setuid|setgid|seteuid|setegid|setgroups|initgroups)\(|'setresuid'/,
  }
  const isComment = (line: string) => /^\s*(\/\/|\/?\*|#)/.test(line)
  const sources = files.filter(
    ({ path }) =>
      /^(packages|scripts)\/.*\.(ts|mjs|js|sh|pl)$/.test(path) &&
      !isForTests(path) &&
      // Programs of the guest.
      !/\/rootfs\/|(guest-scripts|personalise|template-script)\.ts$|\/testing-/.test(path),
  )
  const uses = sources.flatMap(({ path, lines }) => {
    const code = lines.filter((line) => !isComment(line))
    const found = Object.keys(words).filter((word) => code.some((line) => words[word]!.test(line)))
    return found.length === 0 ? [] : [`${path}: ${found.sort().join(', ')}`]
  })

  test('is in the files that docs/isolation.md names, each with what it uses', () => {
    const text = readFileSync(join(root, 'docs/isolation.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(
      ([, path, used]) => `${path}: ${used!.split(', ').sort().join(', ')}`,
    )
    expect(uses.sort()).toEqual(rows.sort())
  })

  test('nothing that a customer writes or reads gets near it: the server slices have none', () => {
    const inSlices = uses.filter((use) =>
      /^packages\/(server\/src\/(?!database|chain)|contract|sdk|web|money)/.test(use),
    )
    expect(inSlices).toEqual([])
  })
})

describe('money is bigint', () => {
  test('no number in the ledger', () => {
    const ledger = product.filter(({ path }) => path.startsWith('packages/server/src/ledger/'))
    expect(
      linesThat(
        ledger,
        (line) => /\bnumber\b|\bNumber\(|\bMath\./.test(line) && !/^\s*(\/\/|\/?\*)/.test(line),
      ),
    ).toEqual([])
  })

  test('no number for an amount in money, in payments and in the machines slice', () => {
    const sources = product.filter(({ path }) =>
      /^packages\/(money|server\/src\/(payments|vps|sandboxes|balance))\//.test(path),
    )
    const amount =
      /\b\w*(amount|price|balance|available|held|owed|refund|received|shortfall|burn)\w*\??:\s*number\b/i
    expect(linesThat(sources, (line) => amount.test(line))).toEqual([])
    const money = sources.filter(({ path }) => path.startsWith('packages/money/'))
    expect(linesThat(money, (line) => /\bNumber\(/.test(line))).toEqual([])
  })
})

describe('what tools say of themselves', () => {
  // A new verb is added here; the point is that there is one.
  const verbs = new Set(
    `Accepts Adds Boots Brings Calls Cancels Changes Charges Closes Confirms Creates Deletes Ends Exchanges Finds Gives Grows Invites
     Keeps Lists Makes Opens Orders Pauses Pays Reads Removes Renames Replaces Resumes Returns Revokes Runs Sends Sets
     Shows Starts Stores Submits Takes Turns Wipes Writes`.split(/\s+/),
  )

  test.each(operationList)('%s: a title, and a description that begins with what it does', (_name, op) => {
    expect(op.summary).toMatch(/^[A-Z][^.:]*$/)
    expect(op.summary.length).toBeLessThanOrEqual(45)
    const [first, ...others] = op.description.split(/(?<=\.) /)
    expect(verbs).toContain(first!.split(' ')[0])
    expect(first).toMatch(/[.]$/)
    expect(first!.split(' ').length).toBeGreaterThanOrEqual(4)
    // A sentence begins with a capital letter, and has a verb: no list of catchwords, no second half of the title.
    for (const sentence of others) {
      expect(sentence).toMatch(/^["A-Z].*\.$/)
      expect(sentence).not.toMatch(/^(And|As|Of|Newest|Without their|For an|For the)\b/)
      expect(sentence.split(' ').length).toBeGreaterThanOrEqual(3)
    }
  })

  test('no two tools have the same title or the same first sentence', () => {
    const titles = operationList.map(([, op]) => op.summary)
    const firsts = operationList.map(([, op]) => op.description.split('. ')[0])
    expect(new Set(titles).size).toBe(titles.length)
    expect(new Set(firsts).size).toBe(firsts.length)
  })
})

describe('language', () => {
  test('no comment begins with "Of"', () => {
    const isGenerated = (path: string) => /generated|\/migrations\/|\.md$/.test(path)
    const sources = files.filter(({ path }) => !isGenerated(path))
    expect(linesThat(sources, (line) => /^\s*(\/\/|\/?\*+|#|--) *Of /.test(line))).toEqual([])
  })

  test('customers read of customers, callers and strangers, not of "whoever" and "nobody"', () => {
    const forCustomers = files.filter(
      ({ path }) =>
        /^(README\.md|docs\/guide-.*\.md|packages\/(contract|web|cli|sdk|mock)\/src\/.*)$/.test(path) &&
        !isForTests(path),
    )
    expect(forCustomers.length).toBeGreaterThan(40)
    const words = /\b(whoever|nobody|somebody|anybody)\b/i
    expect(linesThat(forCustomers, (line) => words.test(line))).toEqual([])
  })
})

describe('files', () => {
  test('migrations are append only: their hashes stand in test/migrations.sha256', () => {
    const folder = 'packages/server/src/database/migrations/'
    const kept = readFileSync(join(root, 'test/migrations.sha256'), 'utf8')
    const found = files
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path, text }) => `${createHash('sha256').update(text).digest('hex')}  ${path}\n`)
    expect(found.join('')).toBe(kept)
    const numbers = files
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path }) => path.slice(folder.length, folder.length + 4))
    expect(numbers.filter((number) => !/^\d{4}$/.test(number))).toEqual([])
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  test.each(operationList.map(([name]) => [name, `${toolName(name).replaceAll('_', '-')}.ts`]))(
    'the operation %s is the file %s of one slice',
    (name, file) => {
      const found = product.filter(
        ({ path }) => /^packages\/server\/src\/\w+\//.test(path) && path.endsWith(`/${file}`),
      )
      expect(found).toHaveLength(1)
      expect(found[0]!.text).toMatch(new RegExp(`export const ${name}: (Paid)?Handler<'${name}'>`))
    },
  )

  test('every source is reached from an entry, and none from tests alone', () => {
    const byPath = new Map(code.map((source) => [source.path, source]))
    const scripts = JSON.stringify(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const isEntry = ({ path }: Source) =>
      scripts.includes(path) ||
      /^(bench|scripts)\/[\w-]+\.(ts|mjs)$|\.config\.ts$|packages\/(sdk|mock)\/src\/index\.ts$/.test(path)
    const reached = new Set<string>()
    const walk = (path: string) => {
      const source = byPath.get(path)
      if (!source || reached.has(path)) return
      reached.add(path)
      for (const written of importsOf(source)) walk(resolveImport(path, written) ?? '')
    }
    for (const source of code.filter(isEntry)) walk(source.path)
    const orphans = product.filter(({ path }) => path.startsWith('packages/') && !reached.has(path))
    expect(orphans.map(({ path }) => path)).toEqual([])
  })

  test('every import names a file, with its ending', () => {
    const paths = new Set(files.map(({ path }) => path))
    const wrong = code.flatMap((source) =>
      importsOf(source)
        .map((written) => ({ written, target: resolveImport(source.path, written) }))
        .filter(
          ({ target }) =>
            target !== undefined && /[^./]/.test(target) && !target.endsWith('/') && !paths.has(target),
        )
        .map(({ written }) => `${source.path}: ${written}`),
    )
    expect(wrong).toEqual([])
  })

  test('none is longer than 350 lines, a test not longer than 500', () => {
    const long = code
      .filter(({ path }) => path.startsWith('packages/'))
      .filter(({ path, lines }) => lines.length > (isForTests(path) ? 500 : 350))
    expect(long.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([])
  })

  test('none names a place of one machine, a package host, or work left to do', () => {
    // Written in two parts, so that this file does not name them itself.
    const words = ['/wo' + 'rk/', 'registry.np' + 'mjs', 'TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X ']
    const sources = files.filter(({ path }) => path !== 'package-lock.json')
    expect(linesThat(sources, (line) => words.some((word) => line.includes(word)))).toEqual([])
    const lockfile = files.filter(({ path }) => path === 'package-lock.json')
    expect(linesThat(lockfile, (line) => /"resolved": "https?:/.test(line))).toEqual([])
  })
})
