/** The content of a file as it stands in JSON: text where it is UTF-8, else base64. */
export function fileInJson(content: Uint8Array): { content: string } | { content_base64: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) }
  } catch {
    return { content_base64: Buffer.from(content).toString('base64') }
  }
}

/** The content of a file that a caller sent, in one form or the other. */
export const fileFromJson = ({
  content,
  content_base64,
}: {
  content?: string | undefined
  content_base64?: string | undefined
}): Buffer => (content_base64 === undefined ? Buffer.from(content!) : Buffer.from(content_base64, 'base64'))
