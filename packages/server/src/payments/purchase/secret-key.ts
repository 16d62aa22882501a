const LEAST_BITS = 128

/** Whether a text can hold enough random bits to be unguessable, judged by its length and its characters. */
export function isSecretKey(key: string): boolean {
  const alphabet = /^[0-9]+$/.test(key) ? 10 : /^[0-9a-f-]+$/i.test(key) ? 16 : 64
  const characters = key.replaceAll('-', '').length
  const isVaried = new Set(key).size >= 8
  return isVaried && characters * Math.log2(alphabet) >= LEAST_BITS
}
