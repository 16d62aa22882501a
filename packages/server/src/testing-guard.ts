import { demandNoTransaction } from './database/transaction.ts'

/**
 * The same port, which refuses to be asked for anything while a transaction is open: a test in which a handler or a
 * reconciler does that fails, whatever else it is about.
 * @param what it is, for the message: "The mail server"
 */
export function outsideTransactions<T extends object>(what: string, port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        demandNoTransaction(`${what} (${String(name)})`)
        return value.apply(target, args)
      }
    },
  })
}
