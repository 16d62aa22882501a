import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** The Node of the machine, as set-up finds it in a fresh clone. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-'))
  await chmod(folder, 0o755)
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  await runCommand('chmod', ['--recursive', 'go=rX', folder])
})

afterAll(() => rm(folder, { recursive: true }))

test('default: says nothing when everything is in place', async () => {
  const output = await runCommand('node', ['scripts/setup.mjs', 'test'], { cwd: root, env: { PATH } })
  expect(output).toEqual({ stdout: '', stderr: '' })
})

test('error: not root, and Debian packages are missing: names them all, with the command', async () => {
  const nothingInstalled = join(folder, 'dpkg')
  await mkdir(join(nothingInstalled, 'updates'), { recursive: true })
  await writeFile(join(nothingInstalled, 'status'), '')

  const error = await runCommand('node', [join(folder, 'scripts', 'setup.mjs'), 'start'], {
    env: { PATH, DPKG_ADMINDIR: nothingInstalled },
    user: await serviceUser('nobody'),
  }).catch((failure) => failure)
  expect(error).toBeInstanceOf(CommandError)
  expect(error.exitCode).toBe(1)
  expect(error.stderr).toMatch(
    /Debian packages are missing: .*mmdebstrap.*qemu-utils[\s\S]*sudo apt-get install --yes .*mmdebstrap/,
  )
})

test.runIf(process.getuid?.() === 0)(
  'behavior: what is installed is not started as a service of the host',
  async () => {
    const programs = join(folder, 'programs')
    await mkdir(programs)
    const write = (name: string, text: string) =>
      writeFile(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    // Scripts of packages start services by these two.
    const asks = 'cmp /bin/true /usr/sbin/invoke-rc.d && cmp /bin/true /usr/bin/deb-systemd-invoke'
    await write('apt-get', `case "$*" in *install*) ${asks} >"$STARTED" && echo none >"$STARTED" ;; esac`)
    for (const name of ['dpkg-query', 'update-rc.d', 'systemctl'])
      await write(name, 'echo "$0 $*" >>"$STARTED.calls"')
    const started = join(folder, 'started')
    const setup = join(folder, 'scripts', 'setup', 'debian.mjs')
    const script = `import(${JSON.stringify(setup)}).then((module) => module.ensureDebianPackages('test'))`
    await runCommand('node', ['--eval', script], {
      env: { PATH: `${programs}${delimiter}${PATH}`, STARTED: started },
    })
    expect(await readFile(started, 'utf8')).toBe('none\n')
    for (const name of ['caddy', 'haproxy', 'knot', 'nginx'])
      expect(await readFile(`${started}.calls`, 'utf8')).toContain(`disable ${name}.service`)
  },
)
