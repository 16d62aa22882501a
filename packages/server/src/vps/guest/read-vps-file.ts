import { FILE_BYTES } from '@coinrack/contract/guest-shapes.ts'
import { bytesToRead, fileInAnswer } from '../../dispatch/file-in-answer.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { askForFile } from './ask-guest.ts'

export const readVpsFile: Handler<'readVpsFile'> = async ({ input, resource, services, fail, asTool }) => {
  const { path, offset } = input
  const length = bytesToRead(asTool, input.length, FILE_BYTES)
  const { content, size } = await askForFile(resource, path, fail, () =>
    hostOf(services, resource).guests.readFile(input.service_id, path, { offset, length }),
  )
  const isFitted = asTool && input.length === undefined
  return { path, ...fileInAnswer(content, { offset, size, isFitted }) }
}
