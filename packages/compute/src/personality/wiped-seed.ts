/** Whether the guest has consumed its seed: it overwrites it with zeros as its last step. */
export const isWiped = (seed: Uint8Array) => seed.every((byte) => byte === 0)
