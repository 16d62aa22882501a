import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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

/** Serves a package index of Python and a registry of npm beyond the host. @returns what ends it */
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
  const end = await serveFolder(folder, PORT)
  return async () => {
    await end()
    await rm(folder, { recursive: true })
  }
}

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
}
