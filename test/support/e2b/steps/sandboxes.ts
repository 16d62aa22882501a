import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Absent, type Behind, type E2b, has, LeftOut, needsReal, rejects, type Step } from './step.ts'

export function sandboxSteps({ Sandbox, CommandExitError, NotFoundError }: E2b, behind: Behind): Step[] {
  let sandbox: InstanceType<typeof Sandbox>
  const tag = { app: 'steps', run: `${process.pid} ä&=` }
  const decoder = new TextDecoder()
  return [
    [
      'Sandbox.create',
      async () => {
        sandbox = await Sandbox.create({ timeoutMs: 300_000, metadata: tag, envs: { FROM: 'steps' } })
        assert.match(sandbox.sandboxId, /^[a-z0-9]+$/)
      },
    ],
    [
      'sandbox.getInfo',
      async () => {
        const info = await sandbox.getInfo()
        assert.equal(info.sandboxId, sandbox.sandboxId)
        assert.equal(info.state, 'running')
        assert.equal(info.templateId, 'base')
        assert.deepEqual(info.metadata, tag)
        assert.ok(info.endAt.getTime() - info.startedAt.getTime() > 200_000)
        assert.ok(info.cpuCount >= 1 && info.memoryMB >= 256)
      },
    ],
    ['sandbox.isRunning', async () => assert.equal(await sandbox.isRunning(), true)],
    [
      'Sandbox.list',
      async () => {
        const second = await Sandbox.create({ timeoutMs: 60_000, metadata: tag })
        const pages = Sandbox.list({ limit: 1, query: { metadata: tag, state: ['running'] } })
        const first = await pages.nextItems()
        assert.equal(first.length, 1)
        assert.equal(pages.hasNext, true)
        const found = [...first, ...(await pages.nextItems())].map(({ sandboxId }) => sandboxId)
        assert.deepEqual(found.sort(), [sandbox.sandboxId, second.sandboxId].sort())
        assert.equal(pages.hasNext, false)
        const others = Sandbox.list({ query: { metadata: { app: 'another' } } })
        assert.deepEqual(await others.nextItems(), [])
        await second.kill()
      },
    ],
    [
      'sandbox.setTimeout',
      async () => {
        await sandbox.setTimeout(600_000)
        const { endAt } = await sandbox.getInfo()
        assert.ok(endAt.getTime() - Date.now() > 500_000 || !behind.isReal)
      },
    ],
    [
      'Sandbox.connect',
      async () => {
        const same = await Sandbox.connect(sandbox.sandboxId)
        assert.equal((await same.commands.run('echo same')).stdout, 'same\n')
        await rejects(Sandbox.connect('sbx00000000000000000000000000'))
      },
    ],
    [
      'commands.run',
      async () => {
        const heard: string[] = []
        const done = await sandbox.commands.run('echo "$FROM $ALSO"; echo err >&2; basename "$PWD"', {
          cwd: '/tmp',
          envs: { ALSO: 'more' },
          onStdout: (text) => void heard.push(text),
        })
        assert.equal(done.stdout, 'steps more\ntmp\n')
        assert.equal(done.stderr, 'err\n')
        assert.equal(done.exitCode, 0)
        assert.equal(heard.join(''), done.stdout)
        const failed = await rejects(sandbox.commands.run('echo no >&2; exit 3'))
        assert.ok(failed instanceof CommandExitError)
        assert.equal(failed.exitCode, 3)
        assert.equal(failed.stderr, 'no\n')
        const long = await sandbox.commands.run('seq 1 400000')
        assert.equal(long.stdout.length, 2_688_895)
      },
    ],
    [
      'commands.run, as another user',
      async () => {
        needsReal(behind)
        assert.equal((await sandbox.commands.run('id -un', { user: 'root' })).stdout, 'root\n')
        assert.equal((await sandbox.commands.run('id -un')).stdout, 'user\n')
      },
    ],
    [
      'commands.run, longer than its timeout',
      async () => {
        const error = await rejects(sandbox.commands.run('sleep 60', { timeoutMs: 1_500 }))
        assert.equal(error.name, 'TimeoutError')
        await sleep(500)
        const left = (await sandbox.commands.list()).filter(({ args }) => args.includes('sleep 60'))
        assert.deepEqual(left, [])
      },
    ],
    [
      'commands.run, in the background, with input',
      async () => {
        const command = await sandbox.commands.run('while read line; do echo "heard $line"; done', {
          background: true,
          stdin: true,
        })
        assert.ok(command.pid > 0)
        await sandbox.commands.sendStdin(command.pid, 'one\n')
        while (!command.stdout.includes('heard one\n')) await sleep(20)
        assert.equal(await command.kill(), true)
        const error = await rejects(command.wait())
        assert.ok(error instanceof CommandExitError)
      },
    ],
    [
      'commands.closeStdin',
      async () => {
        has(sandbox.commands, 'closeStdin')
        const command = await sandbox.commands.run('cat; echo end', { background: true, stdin: true })
        await sandbox.commands.sendStdin(command.pid, 'typed\n')
        await sandbox.commands.closeStdin(command.pid)
        assert.equal((await command.wait()).stdout, 'typed\nend\n')
      },
    ],
    [
      'commands.list, connect and kill',
      async () => {
        const command = await sandbox.commands.run('for i in $(seq 1 600); do echo $i; sleep 0.1; done', {
          background: true,
          timeoutMs: 0,
        })
        await command.disconnect()
        const listed = (await sandbox.commands.list()).find(({ pid }) => pid === command.pid)
        assert.equal(listed?.cmd, '/bin/bash')
        const heard: string[] = []
        const again = await sandbox.commands.connect(command.pid, {
          onStdout: (text) => void heard.push(text),
        })
        while (heard.length < 2) await sleep(20)
        assert.equal(await sandbox.commands.kill(command.pid), true)
        await rejects(again.wait())
        assert.equal(await sandbox.commands.kill(command.pid), false)
      },
    ],
    [
      'pty.create, sendInput, resize and kill',
      async () => {
        needsReal(behind)
        let screen = ''
        const terminal = await sandbox.pty.create({
          cols: 80,
          rows: 24,
          onData: (bytes) => {
            screen += decoder.decode(bytes)
          },
        })
        const type = (text: string) => sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode(text))
        await type('stty size\n')
        while (!screen.includes('24 80')) await sleep(20)
        await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 })
        await type('stty size\n')
        while (!screen.includes('30 100')) await sleep(20)
        assert.equal(await sandbox.pty.kill(terminal.pid), true)
        await rejects(terminal.wait())
      },
    ],
    [
      'files.write and read',
      async () => {
        const written = await sandbox.files.write('new/folder/note.txt', 'hello')
        assert.deepEqual(
          [written.path, written.name, written.type],
          ['/home/user/new/folder/note.txt', 'note.txt', 'file'],
        )
        assert.equal(await sandbox.files.read('/home/user/new/folder/note.txt'), 'hello')
        const bytes = new Uint8Array(300_000).map((_, index) => index * 31)
        await sandbox.files.write('bytes', bytes.buffer)
        assert.deepEqual(await sandbox.files.read('bytes', { format: 'bytes' }), bytes)
        assert.equal((await sandbox.files.read('bytes', { format: 'blob' })).size, bytes.length)
        let streamed = 0
        for await (const piece of await sandbox.files.read('bytes', { format: 'stream' }))
          streamed += piece.length
        assert.equal(streamed, bytes.length)
        await sandbox.files.write('empty', '')
        assert.equal(await sandbox.files.read('empty'), '')
        const missing = await rejects(sandbox.files.read('none'))
        assert.ok(missing instanceof NotFoundError)
      },
    ],
    [
      'files.write, several at once',
      async () => {
        const written = await sandbox.files.write([
          { path: 'several/a', data: 'a' },
          { path: 'several/b', data: 'bb' },
        ])
        assert.deepEqual(
          written.map(({ path }) => path),
          ['/home/user/several/a', '/home/user/several/b'],
        )
        assert.equal(await sandbox.files.read('several/b'), 'bb')
      },
    ],
    [
      'files.write, compressed',
      async () => {
        const text = 'again and again\n'.repeat(1000)
        await sandbox.files.write('packed', text, { gzip: true })
        assert.equal(await sandbox.files.read('packed'), text)
      },
    ],
    [
      'files.list, exists and getInfo',
      async () => {
        await sandbox.commands.run('ln -s a ~/several/link')
        const entries = await sandbox.files.list('several')
        assert.deepEqual(
          entries.map(({ name, type }) => [name, type]),
          [
            ['a', 'file'],
            ['b', 'file'],
            ['link', 'file'],
          ],
        )
        assert.equal(entries[2]!.symlinkTarget, '/home/user/several/a')
        assert.equal((await sandbox.files.list('/home/user', { depth: 3 })).length > entries.length, true)
        assert.equal(await sandbox.files.exists('several/a'), true)
        assert.equal(await sandbox.files.exists('several/z'), false)
        const info = await sandbox.files.getInfo('several/b')
        assert.deepEqual([info.size, info.permissions], [2, '-rw-r--r--'])
        assert.ok(!info.modifiedTime || Math.abs(info.modifiedTime.getTime() - Date.now()) < 600_000)
      },
    ],
    [
      'files.makeDir, rename and remove',
      async () => {
        assert.equal(await sandbox.files.makeDir('made/deep'), true)
        assert.equal(await sandbox.files.makeDir('made/deep'), false)
        const moved = await sandbox.files.rename('made/deep', 'made/moved')
        assert.deepEqual([moved.path, moved.type], ['/home/user/made/moved', 'dir'])
        await sandbox.files.remove('made')
        assert.equal(await sandbox.files.exists('made'), false)
      },
    ],
    [
      'files.watchDir',
      async () => {
        await sandbox.files.makeDir('watched/below')
        const seen: string[] = []
        const watching = await sandbox.files.watchDir(
          'watched',
          ({ type, name }) => void seen.push(`${type} ${name}`),
          {
            recursive: true,
          },
        )
        await sandbox.files.write('watched/below/one', 'x')
        await sandbox.files.remove('watched/below/one')
        while (!seen.includes('remove below/one')) await sleep(20)
        assert.ok(seen.some((each) => each.endsWith('below/one') && !each.startsWith('remove')))
        await watching.stop()
      },
    ],
    [
      'downloadUrl and uploadUrl',
      async () => {
        if (!behind.hasDomain) throw new LeftOut()
        const form = new FormData()
        form.append('file', new Blob(['by a link']))
        const put = await sandbox.uploadUrl('linked', { useSignatureExpiration: 60 })
        assert.equal((await fetch(put, { method: 'POST', body: form })).status, 200)
        const got = await fetch(await sandbox.downloadUrl('linked'))
        assert.equal(await got.text(), 'by a link')
        // A link to write is none to read.
        assert.equal((await fetch(put)).status, 401)
        if (!behind.isReal) return
        const over = await sandbox.downloadUrl('linked', { useSignatureExpiration: -10 })
        assert.equal((await fetch(over)).status, 401)
      },
    ],
    [
      'sandbox.getHost',
      async () => {
        const host = sandbox.getHost(8000)
        assert.ok(host.startsWith(`8000-${sandbox.sandboxId}.`))
        if (!behind.hasDomain) throw new LeftOut()
        const command = 'python3 -m http.server 8765 --bind 127.0.0.1 --directory /home/user/several'
        needsReal(behind)
        await sandbox.commands.run(command, { background: true, timeoutMs: 0 })
        const address = `https://${sandbox.getHost(8765)}/b`
        for (let left = 100; left > 0; left--) {
          const answer = await fetch(address)
          if (answer.ok) return assert.equal(await answer.text(), 'bb')
          await sleep(100)
        }
        assert.fail('Nothing listens')
      },
    ],
    [
      'sandbox.getMetrics',
      async () => {
        const samples = await sandbox.getMetrics()
        const last = samples.at(-1)!
        assert.ok(last.memUsed > 0 && last.memUsed < last.memTotal)
        assert.ok(last.diskUsed < last.diskTotal)
        assert.ok(last.cpuUsedPct >= 0)
      },
    ],
    [
      'sandbox.updateNetwork',
      async () => {
        has(sandbox, 'updateNetwork')
        await sandbox.updateNetwork({ allowInternetAccess: false })
        assert.equal((await sandbox.getInfo()).allowInternetAccess, false)
      },
    ],
    [
      'sandbox.createSnapshot, listSnapshots and deleteSnapshot',
      async () => {
        has(sandbox, 'createSnapshot', 'listSnapshots')
        await sandbox.files.write('kept', 'in the snapshot')
        const { snapshotId } = await sandbox.createSnapshot()
        const listed = await sandbox.listSnapshots().nextItems()
        assert.deepEqual(
          listed.map((each) => each.snapshotId),
          [snapshotId],
        )
        const copy = await Sandbox.create(snapshotId, { timeoutMs: 60_000 })
        assert.equal(await copy.files.read('kept'), 'in the snapshot')
        await copy.kill()
        assert.equal(await Sandbox.deleteSnapshot(snapshotId), true)
      },
    ],
    [
      'sandbox.fork',
      async () => {
        has(sandbox, 'fork')
        const [fork] = await sandbox.fork({ timeoutMs: 60_000 })
        assert.ok(fork instanceof Sandbox)
        assert.equal(await fork.files.read('several/a'), 'a')
        await fork.kill()
      },
    ],
    [
      'sandbox.pause, and connect, which resumes',
      async () => {
        const pause = sandbox.pause ?? sandbox.betaPause
        if (!pause) throw new Absent('pause')
        await sandbox.files.write('before', 'the pause')
        assert.ok(await pause.call(sandbox))
        assert.equal(await sandbox.isRunning(), false)
        assert.equal((await sandbox.getInfo()).state, 'paused')
        const paused = await Sandbox.list({ query: { metadata: tag, state: ['paused'] } }).nextItems()
        assert.deepEqual(
          paused.map(({ sandboxId }) => sandboxId),
          [sandbox.sandboxId],
        )
        assert.equal(await pause.call(sandbox), false)
        sandbox = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 120_000 })
        assert.equal(await sandbox.files.read('before'), 'the pause')
      },
    ],
    [
      'a sandbox that does not run, or is none',
      async () => {
        const over = await Sandbox.create({ timeoutMs: 60_000 })
        assert.equal(await Sandbox.kill(over.sandboxId), true)
        assert.equal(await Sandbox.kill(over.sandboxId), false)
        assert.equal(await over.isRunning(), false)
        assert.match((await rejects(over.commands.run('true'))).name, /^(Timeout|(Sandbox)?NotFound)Error$/)
        assert.ok(await rejects(over.getInfo()))
        assert.match((await rejects(Sandbox.create('no-such-template'))).message, /404/)
      },
    ],
    [
      'what is not offered',
      async () => {
        const opts = { network: { maskRequestHost: 'localhost' } }
        const error = await rejects(Sandbox.create(opts))
        assert.match(error.message, /501: .*not offered/)
      },
    ],
    // Older versions answer nothing.
    ['sandbox.kill', async () => assert.notEqual(await sandbox.kill(), false)],
  ]
}
