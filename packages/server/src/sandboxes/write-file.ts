import { fileFromJson } from '../file-in-json.ts'
import type { Handler } from '../handler.ts'
import { askSandbox } from './ask-sandbox.ts'

export const writeFile: Handler<'writeFile'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path } = input
  const bytes = fileFromJson(input)
  async function* source() {
    yield bytes
  }
  const size = await askSandbox(services, id, resource, ({ files }) => files.write(id, path, source()))
  return { path, size }
}
