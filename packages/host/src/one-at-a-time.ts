/** Runs tasks of the same key one after the other, in the order of the calls; tasks of other keys are independent. */
export function oneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(task, task)
    const settled = mine.catch(() => {})
    last.set(key, settled)
    settled.then(() => {
      if (last.get(key) === settled) last.delete(key)
    })
    return mine
  }
}
