import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect } from 'vitest'
import { serveFolder } from '../network/testing-world.ts'
import type { SandboxChannel, TaskRequest } from '../ports/sandbox-channel.ts'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'

/** Every name leads to the world's address. */
export const INDEX_NAME = 'packages.example'
const PORT = 8000
const WORD = 'installed'

/** A wheel with a module and a command (PEP 427), and its page in a simple index (PEP 503). */
const WHEEL = `import sys, zipfile
name = 'probe_py-1.0-py3-none-any.whl'
info = 'probe_py-1.0.dist-info'
with zipfile.ZipFile(f'{sys.argv[1]}/{name}', 'w') as wheel:
    wheel.writestr('probe_py.py', "def main():\\n    print('${WORD}')\\n")
    wheel.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: probe-py\\nVersion: 1.0\\n')
    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(f'{info}/entry_points.txt', '[console_scripts]\\nprobe-py = probe_py:main\\n')
    wheel.writestr(f'{info}/RECORD', '')
open(f'{sys.argv[1]}/index.html', 'w').write(f'<!DOCTYPE html><a href="{name}">{name}</a>')
`

/** Serves a package index of Python, a registry of npm and a repository of Debian beyond the host. @returns what ends it */
export async function servePackages(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-packages-'))
  const python = join(folder, 'simple', 'probe-py')
  const registry = join(folder, 'npm')
  const source = join(folder, 'package')
  for (const each of [python, registry, source]) await mkdir(each, { recursive: true })
  await runCommand('python3', ['-c', WHEEL, python])
  const manifest = { name: 'probe-js', version: '1.0.0', main: 'main.js', bin: { 'probe-js': 'main.js' } }
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(source, 'main.js'),
    `#!/usr/bin/env node\nmodule.exports = '${WORD}'\nif (require.main === module) console.log('${WORD}')\n`,
  )
  await runCommand('tar', ['-czf', join(registry, 'probe-js-1.0.0.tgz'), '-C', folder, 'package'])
  const dist = { tarball: `http://${INDEX_NAME}:${PORT}/npm/probe-js-1.0.0.tgz` }
  const versions = { '1.0.0': { ...manifest, dist } }
  await writeFile(
    join(registry, 'probe-js'),
    JSON.stringify({ name: 'probe-js', 'dist-tags': { latest: '1.0.0' }, versions }),
  )
  await makeDebianRepository(folder)
  const end = await serveFolder(folder, PORT)
  return async () => {
    await end()
    await rm(folder, { recursive: true })
  }
}

/** A repository without folders of its own (sources.list(5)), with one package. */
async function makeDebianRepository(folder: string): Promise<void> {
  const tree = join(folder, 'tree')
  const repository = join(folder, 'debian')
  for (const each of [join(tree, 'DEBIAN'), join(tree, 'usr/bin'), repository])
    await mkdir(each, { recursive: true })
  const control = `Package: probe-deb
Version: 1.0
Architecture: all
Maintainer: Test <test@${INDEX_NAME}>
Description: A program that says one word
`
  await writeFile(join(tree, 'DEBIAN/control'), control)
  await writeFile(join(tree, 'usr/bin/probe-deb'), `#!/bin/sh\necho ${WORD}\n`, { mode: 0o755 })
  const file = join(repository, 'probe-deb_1.0_all.deb')
  await runCommand('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, file])
  const content = await readFile(file)
  const sum = createHash('sha256').update(content).digest('hex')
  await writeFile(
    join(repository, 'Packages'),
    `${control}Filename: ./probe-deb_1.0_all.deb\nSize: ${content.length}\nSHA256: ${sum}\n`,
  )
}

/** The repository takes the place of Debian's own. Nobody has signed it. */
const USE_REPOSITORY = `sudo rm /etc/apt/sources.list.d/debian.sources &&
  echo 'deb [trusted=yes] http://${INDEX_NAME}:${PORT}/debian ./' | sudo tee /etc/apt/sources.list.d/probe.list`

const env = {
  PIP_INDEX_URL: `http://${INDEX_NAME}:${PORT}/simple/`,
  PIP_TRUSTED_HOST: INDEX_NAME,
  NPM_CONFIG_REGISTRY: `http://${INDEX_NAME}:${PORT}/npm/`,
}

/** Installs as the default user and as root what `servePackages` serves, and uses it. */
export async function expectPackagesToWork(channel: SandboxChannel, id: string): Promise<void> {
  const run = async (request: TaskRequest) => {
    const { stdout, stderr, end } = await runTask(channel, id, { env, ...request })
    expect([end.exitCode, stderr], JSON.stringify(request.run)).toEqual([0, expect.any(String)])
    return stdout.trim().split('\n').at(-1)
  }
  const command = (text: string, user?: string) => run({ run: { command: text }, ...(user && { user }) })
  const code = (language: 'python' | 'node', text: string) =>
    run({ run: { language, code: text, context: language } })

  // Interpreters that run already find what is installed later.
  await code('python', 'import sys')
  await command('pip install probe-py')
  expect(await command('probe-py; command -v probe-py')).toBe('/home/user/.local/bin/probe-py')
  expect(await code('python', 'import probe_py; probe_py.main()')).toBe(WORD)
  await code('node', '1')
  await command('npm install probe-js')
  expect(await code('node', "console.log(require('probe-js'))")).toBe(WORD)
  await command('npm install --global probe-js')
  expect(await command('probe-js; command -v probe-js')).toBe('/home/user/.local/bin/probe-js')

  await command('pip install probe-py && npm install --global probe-js', 'root')
  const paths = await command('probe-py; probe-js; echo $(command -v probe-py probe-js)', 'root')
  expect(paths).toBe('/usr/local/bin/probe-py /usr/local/bin/probe-js')

  await command(`${USE_REPOSITORY} && sudo apt-get update && sudo apt-get install -y probe-deb`)
  expect(await command('probe-deb')).toBe(WORD)
}
