import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Catalog, parseCatalog } from './catalog.ts'

const comesWithTheService = new URL('./default-catalog.json', import.meta.url)

/**
 * Reads what is sold from the operator's file, or from the one that comes with the service.
 * @throws Error that names each field that is wrong
 */
export async function readCatalog(path = fileURLToPath(comesWithTheService)): Promise<Catalog> {
  return parseCatalog(await readFile(path, 'utf8'), path)
}
