// The global `coinrack` of a program. It runs in the sandbox, where the program can change it as it likes: the service
// believes nothing that comes from here. Evaluates to a function that takes the port of the loopback on which the service
// connects, and answers another one that resolves when the program has nothing more to do.
;(port) => {
  const net = require('node:net')
  const waiting = new Map()
  const unsent = []
  let last = 0
  let socket
  let lost
  let failure

  class CoinrackError extends Error {
    constructor(body) {
      super(body.fix ? `${body.code}: ${body.message} (${body.fix})` : `${body.code}: ${body.message}`)
      this.name = 'CoinrackError'
      Object.assign(this, body, { message: this.message })
    }
  }

  /** An open call keeps the program alive, and the connection alone does not. */
  const keepAlive = () => {
    const handle = socket ?? server
    if (waiting.size > 0) handle.ref()
    else handle.unref()
  }
  const take = (line) => {
    const { id, answer, error } = JSON.parse(line)
    const call = waiting.get(id)
    waiting.delete(id)
    keepAlive()
    if (error) call?.fail(error)
    else call?.resolve(answer)
  }
  const end = () => {
    lost = { code: 'connection_lost', message: 'The service takes no more calls of this program' }
    for (const { fail } of waiting.values()) fail(lost)
    waiting.clear()
  }

  const server = net.createServer((connection) => {
    server.close()
    socket = connection
    keepAlive()
    let text = ''
    connection.setEncoding('utf8')
    connection.on('data', (chunk) => {
      text += chunk
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
        const line = text.slice(0, at)
        text = text.slice(at + 1)
        take(line)
      }
    })
    connection.on('error', () => {})
    connection.on('close', end)
    for (const line of unsent.splice(0)) connection.write(line)
  })
  server.listen(port, '127.0.0.1')
  server.unref()

  const call = (name) =>
    function method(input = {}, options = {}) {
      // An error shows the line of the program that called.
      const from = {}
      Error.captureStackTrace(from, method)
      return new Promise((resolve, reject) => {
        const fail = (body) => {
          const error = new CoinrackError(body)
          error.stack = `${error.name}: ${error.message}\n${from.stack.split('\n').slice(1).join('\n')}`
          reject(error)
        }
        if (lost) return fail(lost)
        const id = ++last
        const key = options.idempotencyKey
        const line = `${JSON.stringify({ id, name, input, ...(key === undefined ? {} : { key }) })}\n`
        waiting.set(id, { resolve, fail })
        keepAlive()
        if (socket) socket.write(line)
        else unsent.push(line)
      })
    }
  globalThis.coinrack = new Proxy(Object.freeze({}), {
    get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : call(name)),
  })

  // Imports make Node.js warn of what runs the code, which is not the program's.
  process.removeAllListeners('warning')
  process.on('unhandledRejection', (error) => {
    failure ??= { error }
  })
  process.on('uncaughtException', (error) => {
    failure ??= { error }
  })
  // Its outputs and the like stay open for ever.
  const lasting = ['Immediate', 'PipeWrap', 'TTYWrap']
  const active = () => process.getActiveResourcesInfo().filter((type) => !lasting.includes(type)).length
  const atFirst = active()

  // Like Node.js itself: as long as a call, a timer or anything else is open, the program goes on.
  return async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (let quiet = 0; quiet < 3 && !failure; ) {
      await turn()
      const isBusy = waiting.size > 0 || active() > atFirst
      quiet = isBusy ? 0 : quiet + 1
      if (isBusy) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    if (failure) throw failure.error
  }
}
