import { fileInJson } from '../../dispatch/file-in-json.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { askForFile } from './ask-guest.ts'

export const readVpsFile: Handler<'readVpsFile'> = async ({ input, resource, services, fail }) => {
  const { path, offset, length } = input
  const { content, size } = await askForFile(resource, path, fail, () =>
    hostOf(services, resource).guests.readFile(input.service_id, path, { offset, length }),
  )
  return {
    path,
    size,
    offset,
    length: content.length,
    eof: offset + content.length >= size,
    ...fileInJson(content),
  }
}
