import type { ImageStatus } from '@coinrack/compute/ports/vps-driver.ts'
import type { Queryable } from '../database/transaction.ts'

/** Which of two says more of an image that several hosts have: it can be ordered once one of them is ready. */
const ORDER: ImageStatus['state'][] = ['ready', 'building', 'missing', 'failed']

/** The images of all hosts, or of one, each as the host has it that is furthest with it. */
export async function hostImages(db: Queryable, hostId?: string): Promise<ImageStatus[]> {
  const { rows } = await db.query<{ images: ImageStatus[] }>(
    'select distinct images from host where $1::text is null or id = $1',
    [hostId ?? null],
  )
  const best = new Map<string, ImageStatus>()
  for (const image of rows.flatMap(({ images }) => images)) {
    const known = best.get(image.slug)
    if (!known || ORDER.indexOf(image.state) < ORDER.indexOf(known.state)) best.set(image.slug, image)
  }
  return [...best.values()]
}
