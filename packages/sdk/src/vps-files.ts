import type { CallOptions, Client } from './client.ts'

/** The most that one call carries, in bytes. */
const PIECE_BYTES = 3_000_000

/** Files of a VPS, through its guest agent. Paths are absolute. */
export interface VpsFileAccess {
  /** Replaces the file; its folder has to exist. A file of more than 3 MB is written in pieces. @returns its size in bytes */
  write(path: string, content: string | Uint8Array, call?: CallOptions): Promise<number>
  /** The whole file. */
  read(path: string, call?: CallOptions): Promise<Uint8Array>
  text(path: string, call?: CallOptions): Promise<string>
}

/** @returns the files of one VPS */
export function createVpsFiles(client: Client, service_id: string): VpsFileAccess {
  async function read(path: string, call?: CallOptions): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let offset = 0
    for (;;) {
      const part = await client.readVpsFile({ service_id, path, offset, length: PIECE_BYTES }, call)
      pieces.push(
        part.content === undefined
          ? fromBase64(part.content_base64 ?? '')
          : new TextEncoder().encode(part.content),
      )
      offset += part.length
      if (part.eof || part.length === 0) return concatenate(pieces)
    }
  }
  return {
    read,
    text: async (path, call) => new TextDecoder().decode(await read(path, call)),
    async write(path, content, call) {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
      let size = 0
      let offset = 0
      do {
        const piece = toBase64(bytes.subarray(offset, offset + PIECE_BYTES))
        const at = offset === 0 ? {} : { offset }
        const input = { service_id, path, content_base64: piece, ...at }
        size = (await client.writeVpsFile(input, call)).size
        offset += PIECE_BYTES
      } while (offset < bytes.length)
      return size
    },
  }
}

function concatenate(pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))

/** Arguments of a call are limited in number, so the bytes go in pieces. */
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 32_768)
    binary += String.fromCharCode(...bytes.subarray(at, at + 32_768))
  return btoa(binary)
}
