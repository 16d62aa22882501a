import { addImage } from '@coinrack/compute/images/added/add-image.ts'
import { ImageRefusedError } from '@coinrack/compute/images/added/added-image.ts'
import { type Command, RefusedError } from './command.ts'
import { shownImage } from './image-list.ts'

export const imageAdd: Command = {
  name: 'image add',
  arguments:
    '<id> --url <address> [--checksums <address|file>] [--signature <address|file>] [--key <file>] [--name <text>]',
  summary:
    "Downloads an image with cloud-init, proves it by its publisher's checksums and signature, and keeps it; again, it goes on or replaces",
  takes: 1,
  options: {
    url: { type: 'string' },
    checksums: { type: 'string' },
    signature: { type: 'string' },
    key: { type: 'string' },
    name: { type: 'string' },
  },
  async run(operator, [slug], { url, checksums, signature, key, name = slug }) {
    if (!url) throw new RefusedError('Say where the image is with --url')
    const image = await addImage(
      { slug: slug!, name: name!, source: { url, checksums, signature, key } },
      {
        ...(await operator.images()),
        clock: operator.clock,
        say: operator.say,
        newOsId: async () => {
          const db = await operator.db()
          const { rows } = await db.query<{ number: bigint }>(`select nextval('os_image_number') as number`)
          return Number(rows[0]!.number)
        },
      },
    ).catch(asRefusal)
    const trust = image.signedBy
      ? `signed by ${image.signedBy}`
      : 'not signed: only its server vouches for it'
    return {
      json: shownImage(image),
      text: `${image.name} is added: os_id ${image.osId}, for plans of ${image.diskGb} GB and more (${trust})`,
    }
  },
}

/** A refusal is told to the operator; any other error is a fault. */
export function asRefusal(error: Error): never {
  throw error instanceof ImageRefusedError ? new RefusedError(error.message) : error
}
