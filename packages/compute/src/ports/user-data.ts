/**
 * The bytes that cloud-init is given. User data is text, so a binary form of it (gzip) comes as base64, which is
 * decoded here. No textual form of user data can be mistaken for base64, since each begins with a character or has one
 * (`#`, `:`) that base64 has not.
 */
export function userDataBytes(userData: string): Buffer {
  const packed = userData.replace(/\s/g, '')
  const decoded = Buffer.from(packed, 'base64')
  return packed !== '' && decoded.toString('base64') === packed ? decoded : Buffer.from(userData)
}

/** RFC 1952, section 2.3.1. */
export const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b
