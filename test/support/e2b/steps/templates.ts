import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Behind, type E2b, has, needsReal, rejects, type Step } from './step.ts'

/*
 * What is asked of the builder of templates in E2B's packages.
 */

export function templateSteps({ Sandbox, Template, BuildError, waitForURL }: E2b, behind: Behind): Step[] {
  const name = `steps-${process.pid}`
  let folder: string
  let built: { templateId: string; buildId: string }
  const inSandbox = async (template: string, command: string, cwd?: string) => {
    const sandbox = await Sandbox.create(template, { timeoutMs: 60_000 })
    try {
      return (await sandbox.commands.run(command, cwd === undefined ? {} : { cwd })).stdout
    } finally {
      await sandbox.kill()
    }
  }

  return [
    [
      'Template.build',
      async () => {
        folder = await mkdtemp(join(tmpdir(), 'coinrack-e2b-'))
        await mkdir(join(folder, 'data'))
        await writeFile(join(folder, 'data', 'words.txt'), 'b\na\n')
        await writeFile(join(folder, 'say.sh'), '#!/bin/sh\necho "$GREETING"\n')
        const template = Template({ fileContextPath: folder })
          .fromBaseImage()
          .setWorkdir('/home/user/app')
          .copy('data', 'data')
          .copy('say.sh', 'bin/', { mode: 0o755 })
          .setEnvs({ GREETING: 'it\'s "kept" <here>', BUILT_AS: name })
          .runCmd(['sort data/words.txt > sorted.txt', './bin/say.sh > said.txt', 'cat said.txt'])
        const heard: string[] = []
        built = await Template.build(template, {
          alias: name,
          memoryMB: 512,
          cpuCount: 0.25,
          onBuildLogs: ({ message }) => void heard.push(message),
        })
        assert.ok(heard.join('\n').includes('it\'s "kept" <here>'), heard.join('\n'))
      },
    ],
    [
      'Template.getBuildStatus',
      async () => {
        const status = await Template.getBuildStatus(built)
        assert.equal(status.status, 'ready')
        assert.ok(status.logEntries.length > 3)
        const later = await Template.getBuildStatus(built, { logsOffset: status.logEntries.length })
        assert.deepEqual(later.logEntries, [])
      },
    ],
    [
      'Template.exists',
      async () => {
        has(Template, 'exists')
        assert.equal(await Template.exists(name), true)
        assert.equal(await Template.exists(`${name}-not`), false)
      },
    ],
    [
      'Template.aliasExists',
      async () => {
        assert.equal(await Template.aliasExists(name), true)
        assert.equal(await Template.aliasExists(`${name}-not`), false)
      },
    ],
    [
      'Template.getTags',
      async () => {
        has(Template, 'getTags')
        const [tag] = await Template.getTags(built.templateId)
        assert.equal(tag?.tag, 'default')
      },
    ],
    [
      'Sandbox.create, of a template that was built',
      async () => {
        const said = await inSandbox(name, 'cat said.txt sorted.txt; echo "$GREETING"', '/home/user/app')
        assert.equal(said, 'it\'s "kept" <here>\na\nb\nit\'s "kept" <here>\n')
      },
    ],
    [
      'Template.build, by users and with a program',
      async () => {
        needsReal(behind)
        const template = Template()
          .fromTemplate(name)
          .runCmd('id -un > by-user; stat -c %U . data bin/say.sh')
          .runCmd('id -un > /by-root', { user: 'root' })
          .makeDir('made/deep')
          .setStartCmd(
            'python3 -m http.server 8123 --bind 127.0.0.1',
            waitForURL('http://127.0.0.1:8123/said.txt'),
          )
        const heard: string[] = []
        await Template.build(template, {
          alias: `${name}-2`,
          memoryMB: 512,
          cpuCount: 0.25,
          onBuildLogs: ({ message }) => void heard.push(message),
        })
        assert.ok(heard.join('\n').includes('user\nuser\nuser'), heard.join('\n'))
        const said = await inSandbox(
          `${name}-2`,
          'cat by-user /by-root; ls made; curl -s http://127.0.0.1:8123/sorted.txt',
        )
        assert.equal(said, 'user\nroot\ndeep\na\nb\n')
      },
    ],
    [
      'Template.build, of a Dockerfile',
      async () => {
        needsReal(behind)
        const template = Template({ fileContextPath: folder }).fromDockerfile(
          'FROM e2bdev/code-interpreter:latest\nENV NAME=docker\nRUN python3 -c "print(6 * 7)" > /answer\nCOPY say.sh /opt/',
        )
        await Template.build(template, { alias: `${name}-3`, memoryMB: 512, cpuCount: 0.25 })
        assert.equal(
          await inSandbox(`${name}-3`, 'cat /answer; ls /opt/say.sh; id -un'),
          '42\n/opt/say.sh\nuser\n',
        )
      },
    ],
    [
      'Template.buildInBackground',
      async () => {
        const template = Template().fromBaseImage().runCmd('true').runCmd('echo why >&2; exit 7')
        const begun = await Template.buildInBackground(template, {
          alias: `${name}-fails`,
          memoryMB: 512,
          cpuCount: 0.25,
        })
        let status = await Template.getBuildStatus(begun)
        while (status.status === 'waiting' || status.status === 'building') {
          await new Promise((resolve) => setTimeout(resolve, 200))
          status = await Template.getBuildStatus(begun)
        }
        assert.equal(status.status, 'error')
        assert.equal(status.reason?.step, '2')
        assert.ok(status.reason?.message.includes('7'))
        const error = await rejects(Template.build(template, { alias: `${name}-fails` }))
        assert.ok(error instanceof BuildError)
      },
    ],
    [
      'Template.build, of an image of a registry',
      async () => {
        const template = Template().fromImage('python:3.12')
        const error = await rejects(Template.build(template, { alias: `${name}-image` }))
        assert.ok(error instanceof BuildError && error.message.includes('fromBaseImage()'), error.message)
      },
    ],
    [
      'Sandbox.deleteSnapshot, of a template',
      async () => {
        await rm(folder, { recursive: true, force: true })
        has(Sandbox, 'deleteSnapshot')
        assert.equal(await Sandbox.deleteSnapshot(built.templateId), true)
        assert.equal(await Template.aliasExists(name), false)
      },
    ],
  ]
}
