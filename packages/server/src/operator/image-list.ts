import type { AddedImage } from '@coinrack/compute/images/added/added-image.ts'
import { listAddedImages } from '@coinrack/compute/images/added/added-store.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const imageList: Command = {
  name: 'image list',
  arguments: '',
  summary: 'The images that were added, and who vouches for each',
  takes: 0,
  async run(operator) {
    const images = (await listAddedImages((await operator.images()).folder)).map(shownImage)
    return {
      json: images,
      text: table(['id', 'os_id', 'name', 'disk_gb', 'signed_by', 'added_at', 'url'], images),
    }
  },
}

/** An added image, as an operator looks at it. */
export const shownImage = (image: AddedImage) => ({
  id: image.slug,
  os_id: image.osId,
  name: image.name,
  disk_gb: image.diskGb,
  digest: image.digest,
  signed_by: image.signedBy,
  added_at: image.addedAt,
  url: image.url,
})
