import { fileFromJson } from '../../dispatch/file-in-json.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { askForFile } from './ask-guest.ts'

export const writeVpsFile: Handler<'writeVpsFile'> = async ({ input, resource, services, fail }) => {
  const { path, offset } = input
  const size = await askForFile(resource, path, fail, () =>
    hostOf(services, resource).guests.writeFile(input.service_id, path, fileFromJson(input), offset),
  )
  return { path, size }
}
