import { posix } from 'node:path'
import type { FileInfo, SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'

type Files = SandboxChannel['files']

/** As many links that lead to each other as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40
const types = { file: 'FILE_TYPE_FILE', folder: 'FILE_TYPE_DIRECTORY', link: 'FILE_TYPE_SYMLINK' } as const
const letters = { file: '-', folder: 'd', link: 'L', other: '?' } as const

/** A path as a client writes it: `~` and nothing at all are the home of the user. */
export const pathOf = (path: string) => path.replace(/^~(?=\/|$)\/?/, '') || '.'

/** A file as E2B's clients read it. Where it is a link, the type is that of what it leads to, as far as that is there. */
export async function entryOf(files: Files, id: string, found: FileInfo, options: { user?: string }) {
  const { path, size, mode, user, group, modifiedAt, target } = found
  const type = found.type === 'link' ? await typeBehind(files, id, found, options) : found.type
  return {
    name: posix.basename(path),
    path,
    type: type === 'other' ? 'FILE_TYPE_UNSPECIFIED' : types[type],
    // 64 bits are a text in protobuf's JSON.
    size: String(size),
    mode,
    permissions: permissionsOf(found),
    owner: user,
    group,
    modifiedTime: modifiedAt.toISOString(),
    ...(target !== undefined && { symlinkTarget: posix.resolve(posix.dirname(path), target) }),
  }
}

async function typeBehind(
  files: Files,
  id: string,
  link: FileInfo,
  options: { user?: string },
): Promise<FileInfo['type']> {
  try {
    for (let found = link, left = MOST_LINKS; left > 0; left--) {
      if (found.type !== 'link') return found.type
      const { path, target = '' }: FileInfo = found
      found = await files.stat(id, posix.resolve(posix.dirname(path), target), options)
    }
  } catch {
    // It leads nowhere.
  }
  return 'link'
}

/** As Go writes the mode of a file. */
function permissionsOf({ type, mode }: Pick<FileInfo, 'type' | 'mode'>): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-'))
  return letters[type] + bits.join('')
}
