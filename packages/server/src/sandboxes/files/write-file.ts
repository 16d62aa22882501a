import { fileFromJson } from '../../dispatch/file-in-json.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const writeFile: Handler<'writeFile'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path } = input
  const bytes = fileFromJson(input)
  async function* source() {
    yield bytes
  }
  const size = await askSandbox(services, id, resource, ({ files }) => files.write(id, path, source()))
  return { path, size }
}
