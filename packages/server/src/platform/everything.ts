/** The topic of every change: notifications were missed for a while, and anything may have changed meanwhile. */
export const EVERYTHING = '*'
