import type { Handler } from '../handler.ts'
import { askForFile } from './ask-guest.ts'

export const writeVpsFile: Handler<'writeVpsFile'> = async ({ input, resource, services, fail }) => {
  const { path, content, content_base64, offset } = input
  const bytes = content_base64 === undefined ? Buffer.from(content!) : Buffer.from(content_base64, 'base64')
  const size = await askForFile(resource.status, fail, () =>
    services.guests.writeFile(input.service_id, path, bytes, offset),
  )
  return { path, size }
}
