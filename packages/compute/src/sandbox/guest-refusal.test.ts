import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test } from 'vitest'

/** Work on a file that is refused, in the place of a process of the agent's, and what the agent tells of it. */
const REFUSED = `
import os, select, socket, sys, threading, types
sys.path.insert(0, sys.argv[1])
import files, frames, link

def work(sock, head):
    raise files.Refusal("no")

mine, its = socket.socketpair()
mine = socket.socket(fileno=os.dup2(mine.detach(), 50))
os.dup2(its.detach(), 3)
os.closerange(4, 50)
worker = threading.Thread(target=files.serve, args=(work, {}), daemon=True)
told = bytearray()
stream = link.Stream(types.SimpleNamespace(streams={}, send=told.extend), 1)
pump = link.Pump(types.SimpleNamespace(watch=lambda *_: None), stream, mine)
worker.start()
select.select([mine], [], [])
worker.join(0.2)
for _ in range(2):
    pump.from_stream(b"more")
pump.ready(link.READ)
print([(kind, bytes(payload).decode()) for kind, _, _, payload in frames.Parser().feed(told)])
`

test('behavior: why a file is refused is heard, also by who is still sending it', async () => {
  const { stdout } = await runCommand('python3', ['-Bc', REFUSED, join(import.meta.dirname, 'guest')])
  expect(stdout).toContain('{"refused":"no"}')
  expect(stdout).not.toContain('guest_failed')
})
