import { createHash } from 'node:crypto'
import { access, chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { sumOf } from '../machine/saving.ts'
import type { ArtifactFile } from '../ports/sandbox-artifacts.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'

/** One kind of artifact: a folder each, under a common one. */
export interface ArtifactKind {
  folder: string
  /** The pattern of its name. Only such a name becomes a path. */
  name: RegExp
  /** The files that it has; the last one is there in every one that is whole. */
  files: readonly string[]
  /** The mode of its files. */
  mode: number
}

const SUMS = 'sums.json'
const RECEIVED = '.receiving'

/** Removes what was begun and not brought to its end, of all artifacts of a kind. */
export async function removeUnfinished({ folder }: ArtifactKind): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.endsWith(RECEIVED)) await rm(join(folder, name), { recursive: true, force: true })
}

/** The names of those that are here whole. */
export async function namesOf({ folder, name, files }: ArtifactKind): Promise<string[]> {
  const found = (await readdir(folder).catch(() => [])).filter((each) => name.test(each))
  const whole = await Promise.all(found.map((each) => exists(join(folder, each, files.at(-1)!))))
  return found.filter((_, index) => whole[index])
}

/** Its files with their sums, which are computed once. @throws SandboxError `artifact_unknown` */
export async function filesOf(kind: ArtifactKind, name: string): Promise<ArtifactFile[]> {
  const folder = await folderOf(kind, name)
  const known = await readFile(join(folder, SUMS), 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known) as ArtifactFile[]
  const files: ArtifactFile[] = []
  for (const file of kind.files) {
    const path = join(folder, file)
    const sha256 = await sumOf(path)
    if (sha256 !== undefined) files.push({ name: file, bytes: (await stat(path)).size, sha256 })
  }
  await writeWhole(join(folder, SUMS), JSON.stringify(files))
  return files
}

/** @throws SandboxError `artifact_unknown` */
export async function readFileOf(kind: ArtifactKind, name: string, file: string): Promise<Readable> {
  if (!kind.files.includes(file)) throw unknown(name, file)
  const handle = await open(join(await folderOf(kind, name), file)).catch(() => {
    throw unknown(name, file)
  })
  return handle.createReadStream({ highWaterMark: 1024 ** 2 })
}

/**
 * Receives one file of an artifact that is not whole.
 * @throws SandboxError `artifact_damaged`, `spec_invalid`; what the source throws
 */
export async function receiveFile(
  kind: ArtifactKind,
  name: string,
  { name: file, bytes, sha256 }: ArtifactFile,
  source: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (!kind.name.test(name) || !kind.files.includes(file))
    throw new SandboxError('spec_invalid', `No artifact has a ${file}`)
  const part = partOf(kind, name)
  await mkdir(kind.folder, { recursive: true, mode: kind.mode === 0o644 ? 0o755 : 0o700 })
  await mkdir(part, { recursive: true, mode: 0o700 })
  const path = join(part, file)
  const handle = await open(`${path}.part`, 'w', kind.mode)
  try {
    const hash = createHash('sha256')
    let received = 0
    for await (const chunk of source) {
      received += chunk.length
      if (received > bytes) break
      hash.update(chunk)
      await handle.writeFile(chunk)
    }
    if (received !== bytes || hash.digest('hex') !== sha256)
      throw new SandboxError('artifact_damaged', `${file} of ${name} is not what it was said to be`)
    await handle.sync()
    await rename(`${path}.part`, path)
  } finally {
    await handle.close()
    await rm(`${path}.part`, { force: true })
  }
}

/**
 * Makes an artifact whole whose files were all received.
 * @param check looks at the files before they count
 * @throws SandboxError `artifact_damaged`, `artifact_unknown`
 */
export async function completeArtifact(
  kind: ArtifactKind,
  name: string,
  files: readonly ArtifactFile[],
  check: (folder: string) => Promise<void>,
): Promise<void> {
  if (!kind.name.test(name)) throw unknown(name)
  const part = partOf(kind, name)
  if (!files.some((file) => file.name === kind.files.at(-1)))
    throw new SandboxError('artifact_damaged', `${name} is not all of an artifact`)
  for (const file of files)
    if (!kind.files.includes(file.name) || (await sumOf(join(part, file.name))) !== file.sha256)
      throw new SandboxError('artifact_damaged', `${file.name} of ${name} was not received`)
  await check(part)
  await writeWhole(join(part, SUMS), JSON.stringify(files))
  if (kind.mode === 0o644) await chmod(part, 0o755)
  await rename(part, join(kind.folder, name))
}

const partOf = ({ folder }: ArtifactKind, name: string) => join(folder, `${name}${RECEIVED}`)

async function folderOf({ folder, name: form, files }: ArtifactKind, name: string): Promise<string> {
  const path = join(folder, name)
  if (!form.test(name) || !(await exists(join(path, files.at(-1)!)))) throw unknown(name)
  return path
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text)
  await rename(`${path}.part`, path)
}

const unknown = (name: string, file = 'artifact') =>
  new SandboxError('artifact_unknown', `There is no ${file.slice(0, 40)} of ${name.slice(0, 100)}`)

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
