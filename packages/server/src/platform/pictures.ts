/** The pictures that models take: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#image-content leaves it open, and others are refused by some. */
const SIGNATURES: Record<string, (bytes: Uint8Array) => boolean> = {
  'image/png': startsWith('89504e470d0a1a0a'),
  'image/jpeg': startsWith('ffd8ff'),
  'image/gif': startsWith('47494638'),
  'image/webp': (bytes) => startsWith('52494646')(bytes) && startsWith('57454250')(bytes.subarray(8)),
}

function startsWith(hex: string): (bytes: Uint8Array) => boolean {
  const signature = Buffer.from(hex, 'hex')
  return (bytes) => signature.equals(bytes.subarray(0, signature.length))
}

/** Whether a media type is of a picture that can be shown to a model. */
export const isPictureType = (type: string) => type in SIGNATURES

/** The media type of a picture, by its first bytes; undefined for anything else. */
export const pictureType = (bytes: Uint8Array): string | undefined =>
  Object.entries(SIGNATURES).find(([, matches]) => matches(bytes))?.[0]
