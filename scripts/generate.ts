import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.ts'

for (const [path, makeText] of Object.entries(generatedFiles)) {
  await writeFile(join(import.meta.dirname, '..', path), await makeText())
  console.log(path)
}
