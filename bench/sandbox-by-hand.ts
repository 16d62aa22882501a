/** First outputs as an operator with nothing but the command lines gets them: the service's own are compared with them. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type BuiltImage, createImageStore } from '@coinrack/compute/images/image-store.ts'
import { type Accelerator, QEMU } from '@coinrack/compute/machine/command-line.ts'
import { makeDisk } from '@coinrack/compute/machine/disk.ts'
import { hostClockOptions } from '@coinrack/compute/machine/host-clock.ts'
import { withAgent } from '@coinrack/compute/sandbox/agent-files.ts'
import { sandboxArguments, sandboxFiles } from '@coinrack/compute/sandbox/command-line.ts'
import { sandboxRecipes } from '@coinrack/compute/sandbox/image/recipes.ts'
import { firstSession } from '@coinrack/compute/sandbox/template.ts'
import { runCommand } from '@coinrack/host/run-command.ts'

/** The image that sandboxes of the template begin as. */
export const sandboxImage = async (cacheFolder: string, slug: string): Promise<BuiltImage> =>
  createImageStore({ cacheFolder, recipes: sandboxRecipes }).get(slug)

/** Milliseconds from the making of the disk to the first output of `echo`, by a boot of a plain QEMU. */
export async function bootByHand(image: BuiltImage, accelerator: Accelerator, memoryMb: number) {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-bench-'))
  const clockOptions = await hostClockOptions()
  const initrd = await withAgent(await readFile(image.initrd))
  await writeFile(join(folder, 'initrd'), initrd)
  await mkdir(join(folder, dirname(sandboxFiles.agent)))
  const begun = performance.now()
  const disk = join(folder, sandboxFiles.disk)
  const { diskGb } = image
  await makeDisk(disk, { base: image.disk, image: { diskGb }, diskGb: diskGb + 1, owner: undefined })
  const args = sandboxArguments({
    ...{ id: 'by-hand', vcpus: 1, memoryMb, accelerator, network: { kind: 'user' } },
    boot: { kernel: image.kernel, initrd: 'initrd', clockOptions },
  })
  const guest = spawn(QEMU, args, { cwd: folder, stdio: 'inherit' })
  try {
    const session = await firstSession(join(folder, sandboxFiles.agent), () => {
      if (guest.exitCode !== null) throw new Error(`QEMU ended with ${guest.exitCode}`)
    })
    const taskId = 'echo'
    await session.call('tasks.start', { taskId, request: { run: { command: 'echo 1' } } })
    for (;;) {
      const from = { stdout: 0, stderr: 0 }
      const { head } = await session.call('tasks.read', { taskId, from, waitMs: 10_000 })
      if (head.end) break
    }
    session.close()
    return performance.now() - begun
  } finally {
    guest.kill('SIGKILL')
    await new Promise((resolve) => guest.once('exit', resolve))
    await rm(folder, { recursive: true, force: true })
  }
}

export interface Container {
  /** Milliseconds to the first output of a program in a new container. */
  start(program: string[]): Promise<number>
  remove(): Promise<void>
}

/** Containers of the image's files, which they only read; with `runc` or `crun` from Debian. Needs root. */
export async function containersOf(image: BuiltImage, runtime: string): Promise<Container> {
  const bundle = await mkdtemp(join(tmpdir(), 'coinrack-bench-'))
  const rootfs = join(bundle, 'rootfs')
  await mkdir(rootfs)
  await runCommand('qemu-img', ['convert', '-O', 'raw', image.disk, join(bundle, 'disk')])
  await runCommand('mount', ['-o', 'ro,loop,noload', join(bundle, 'disk'), rootfs])
  await runCommand(runtime, ['spec', '--bundle', bundle])
  const file = join(bundle, 'config.json')
  const config = JSON.parse(await readFile(file, 'utf8'))
  config.process.terminal = false
  let made = 0
  return {
    async start(program) {
      config.process.args = program
      await writeFile(file, JSON.stringify(config))
      const begun = performance.now()
      const name = `coinrack-bench-${process.pid}-${++made}`
      const { stdout } = await runCommand(runtime, ['run', '--bundle', bundle, name])
      if (stdout !== '1\n') throw new Error(`It said ${stdout}`)
      return performance.now() - begun
    },
    async remove() {
      await runCommand('umount', [rootfs])
      await rm(bundle, { recursive: true, force: true })
    },
  }
}
