const ID = /^vps_[0-9a-hjkmnp-tv-z]{26}$/

/** An id becomes the name of a folder, so nothing else may pass. */
export const isMachineId = (id: string) => ID.test(id)
