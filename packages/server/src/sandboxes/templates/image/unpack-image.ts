import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { z } from 'zod'
import {
  BuildFailed,
  type BuildResult,
  type BuildSite,
  howItEnded,
  runInBuild,
  writeAsRoot,
} from '../build-site.ts'
import { updateBuild } from '../build-store.ts'
import { joinPrograms } from '../plan-build.ts'

const SCRIPT = readFileSync(new URL('./unpack_image.py', import.meta.url), 'utf8')
const FOLDER = '/var/lib/coinrack'
/** The path of the archive in the sandbox that it is unpacked in. */
export const IMAGE_ARCHIVE = `${FOLDER}/image.tar`
const SCRIPT_FILE = `${FOLDER}/unpack_image.py`
const CONFIG_FILE = `${FOLDER}/image.json`
/** The root of the programs of its sandboxes. */
const ROOT = '/image'
const CONFIG_BYTES = 256 * 1024
/** What programs of the image find besides its own files. */
const SURROUND = `set -e
cp /etc/resolv.conf ${ROOT}/etc/resolv.conf
for each in proc sys dev run; do mountpoint -q ${ROOT}/$each || mount --rbind /$each ${ROOT}/$each; done
rm -f ${IMAGE_ARCHIVE} ${SCRIPT_FILE}`

/** The configuration of an image, as a guest tells it. */
const ImageConfig = z.object({
  env: z.array(z.string().max(16_384)).max(500),
  entrypoint: z.array(z.string()).max(200),
  command: z.array(z.string()).max(200),
  workdir: z.string().max(4096),
  user: z.string().max(200),
})

/**
 * Makes the root of a template from an image archive, in the sandbox that it was uploaded to: nothing of it is read outside.
 * @returns what its sandboxes begin with; undefined while the archive is not there
 */
export async function unpackImage(site: BuildSite): Promise<BuildResult | undefined> {
  const { channel, sandbox, build, log, services } = site
  if (build.done === 0) {
    if (!(await isUploaded(site))) return undefined
    if (build.read_stdout === 0n) await log.say('Unpacking the image')
    await writeAsRoot(channel, sandbox.id, SCRIPT_FILE, SCRIPT)
    const program = ['python3', '-I', SCRIPT_FILE, IMAGE_ARCHIVE, ROOT, CONFIG_FILE]
    await demandSuccess(site, 'unpack', program)
    await demandSuccess(site, 'surround', ['/bin/sh', '-c', SURROUND])
    const next = { done: 1, read_stdout: 0n, read_stderr: 0n, tries: 0 }
    if (!(await updateBuild(services.db, build.id, next))) throw new BuildFailed('The build has ended')
  }
  return resultOf(await readConfig(site))
}

async function isUploaded({ channel, sandbox }: BuildSite): Promise<boolean> {
  try {
    return (await channel.files.stat(sandbox.id, IMAGE_ARCHIVE, { user: 'root' })).type === 'file'
  } catch (error) {
    if (error instanceof SandboxError && error.code === 'file_unknown') return false
    throw error
  }
}

async function demandSuccess(site: BuildSite, name: string, program: string[]): Promise<void> {
  const taskId = `${site.build.id}-${name}`
  const end = await runInBuild(site, taskId, { run: { program }, user: 'root', cwd: '/' })
  if (end.exitCode !== 0)
    throw new BuildFailed(`The image could not be unpacked: ${howItEnded(end)}; the log says why`)
}

async function readConfig({ channel, sandbox }: BuildSite): Promise<z.output<typeof ImageConfig>> {
  const { content, size } = await channel.files.read(sandbox.id, CONFIG_FILE, {
    user: 'root',
    length: CONFIG_BYTES,
  })
  const said = await text(content)
  if (size > CONFIG_BYTES) throw new BuildFailed('The configuration of the image is too long')
  const read = ImageConfig.safeParse(JSON.parse(said))
  if (!read.success) throw new BuildFailed('The configuration of the image is not as it should be')
  return read.data
}

function resultOf({ env, entrypoint, command, workdir, user }: z.output<typeof ImageConfig>): BuildResult {
  const pairs = env.flatMap((each): [string, string][] => {
    const at = each.indexOf('=')
    const name = each.slice(0, at)
    return at > 0 && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [[name, each.slice(at + 1)]] : []
  })
  const variables = Object.fromEntries(pairs)
  const name = user.split(':')[0]!
  if (name !== '' && !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/.test(name))
    throw new BuildFailed(`The user of the image is ${user.slice(0, 60)}, which cannot be one`)
  const who = name === '' ? 'root' : name
  const cwd = workdir.startsWith('/') ? workdir : '/'
  const programOf = (program: string[]) => (program.length > 0 ? { program } : undefined)
  const run = joinPrograms(programOf(entrypoint), programOf(command))
  return {
    env: variables,
    user: who,
    workdir: cwd,
    root: ROOT,
    start: run ? { run, user: who, cwd, env: variables } : null,
  }
}
