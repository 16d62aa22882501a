import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generatedFiles } from '../scripts/generated-files.ts'

test.each(Object.entries(generatedFiles))(
  'default: %s is what `npm run generate` makes',
  async (path, makeText) => {
    const committed = await readFile(join(import.meta.dirname, '..', path), 'utf8')
    expect(committed).toBe(await makeText())
  },
)
