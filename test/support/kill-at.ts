import type { Services } from '@coinrack/server/platform/services.ts'

/** A point of the first transaction that has a statement with this text or value. */
export interface KillPoint {
  marker: string
  at: 'before the statement' | 'before the commit' | 'after the commit'
}

/** Ends this process by SIGKILL at a point of what it writes: nobody hears what came of it. */
export function killAt({ db }: Services, { marker, at }: KillPoint): void {
  const wrapped = new WeakSet<object>()
  const die = () => process.kill(process.pid, 'SIGKILL')
  db.on('acquire', (client) => {
    if (wrapped.has(client)) return
    wrapped.add(client)
    let isMarked = false
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((...given: unknown[]) => {
      const [text, values] = given
      if (text === 'begin') isMarked = false
      if (JSON.stringify([text, values], plain).includes(marker)) {
        if (at === 'before the statement') die()
        isMarked = true
      }
      const isCommit = text === 'commit' && isMarked
      if (isCommit && at === 'before the commit') die()
      const answered = query(...given)
      if (isCommit && at === 'after the commit') void Promise.resolve(answered).then(die)
      return answered
    }) as typeof client.query
  })
}

const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
