import { basename } from 'node:path/posix'
import type { ContentBlock } from '@modelcontextprotocol/server'
import { lookup } from 'mime-types'
import { isPictureType, pictureType } from '../../platform/pictures.ts'

type Body = Record<string, unknown>
interface Result {
  data: Record<string, string>
}

const ANY_BYTES = 'application/octet-stream'

/**
 * Takes the pictures and the links to files out of an answer: they are blocks of their own, and never stand as base64 in
 * its text or its data.
 * @param path of the file that the call is about, if it is about one
 */
export function takeMedia(body: Body, path: unknown): { data: Body; media: ContentBlock[] } {
  const media: ContentBlock[] = []
  const data: Body = { ...body }
  if (Array.isArray(body.results)) {
    data.results = (body.results as Result[]).map((result) => {
      const forms = Object.entries(result.data)
      for (const [mimeType, picture] of forms)
        if (isPictureType(mimeType)) media.push({ type: 'image', mimeType, data: picture })
      return { ...result, data: Object.fromEntries(forms.filter(([type]) => !isPictureType(type))) }
    })
  }
  const { content_base64: base64, download_url, url, size } = body
  if (typeof base64 === 'string') {
    const mimeType = body.eof === true && body.offset === 0 && pictureType(Buffer.from(base64, 'base64'))
    if (mimeType) {
      media.push({ type: 'image', mimeType, data: base64 })
      delete data.content_base64
    }
  }
  const uri = download_url ?? (body.method === 'GET' ? url : undefined)
  if (typeof uri === 'string') {
    const name = basename(String(path))
    media.push({
      type: 'resource_link',
      uri,
      name,
      mimeType: lookup(name) || ANY_BYTES,
      ...(typeof size === 'number' && { size }),
    })
    // The link has it.
    delete data.download_url
  }
  return { data, media }
}
