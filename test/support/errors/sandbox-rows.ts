import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runOperator } from '@coinrack/server/operator/run-operator.ts'
import { testOperator } from '@coinrack/server/operator/testing.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'
import type { Answer, Row } from './walk.ts'
import type { Buyer, ErrorWorld, Input } from './world.ts'

/** Sandboxes, the work in them, and the links to them. */
export function sandboxRows({ service, origin, buyer }: ErrorWorld) {
  /** A call that is wrong in one thing. */
  const inSandbox =
    (tool: string, wrong: Input, right: Input): Row =>
    async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      return {
        call: () => who.call(tool, { sandbox_id, ...wrong }),
        take: who.take,
        further: () => who.call(tool, { sandbox_id, ...right }),
      }
    }
  const get = async (url: string, headers: Record<string, string> = {}): Promise<Answer> => {
    const reply = await fetch(url, { headers })
    const text = await reply.text()
    return {
      status: reply.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      headers: Object.fromEntries(reply.headers),
    }
  }
  const local = (url: string) => url.replace(/^https?:\/\/[^/]+/, origin)
  /** A server on a port of the sandbox, which is one of this host. */
  async function served(who: Buyer, input: Input = {}) {
    const sandbox_id = await who.sandbox()
    const server = createServer((_request, response) => response.end('here'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const expose = () => who.call('expose_port', { sandbox_id, port, ...input })
    const path = `${origin}/preview/${sandbox_id}/${port}/`
    return { sandbox_id, port, server, expose, path }
  }
  const close = (server: ReturnType<typeof createServer>) => new Promise((resolve) => server.close(resolve))

  return {
    sandbox_not_running: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      await who.take('pause_sandbox', { sandbox_id })
      return { call: () => who.call('run_code', { sandbox_id, code: '1' }), take: who.take }
    },
    sandbox_unreachable: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox({ env: { FAKE: 'no-agent' } })
      let other = ''
      return {
        call: () => who.call('run_code', { sandbox_id, code: '1' }),
        take: async (tool, input) => {
          const answer = await who.take(tool, input)
          other = answer.body.id
          return answer
        },
        further: () => who.call('run_code', { sandbox_id: other, code: '1' }),
      }
    },
    sandbox_damaged: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox({ env: { FAKE: 'damaged' } })
      await who.take('pause_sandbox', { sandbox_id })
      let other = ''
      return {
        call: () => who.call('resume_sandbox', { sandbox_id }),
        take: async (tool, input) => {
          const answer = await who.take(tool, input)
          other = answer.body.id
          return answer
        },
        further: () => who.call('run_code', { sandbox_id: other, code: '1' }),
      }
    },
    sandbox_limit: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      const expose = (port: number) => who.call('expose_port', { sandbox_id, port })
      for (let port = 3000; port < 3020; port++) await expose(port)
      return {
        call: () => expose(3020),
        take: who.take,
        meanwhile: () => who.call('unexpose_port', { sandbox_id, port: 3000 }),
      }
    },
    template_exists: async () => {
      const who = await buyer()
      const make = (name: string) => who.call('create_sandbox_template', { name, dockerfile: 'FROM base' })
      await make('one')
      return { call: () => make('one'), take: who.take, further: () => make('two') }
    },
    template_limit: async () => {
      const who = await buyer()
      const make = (name: string) =>
        who.call('create_sandbox_template', { name, image: false, dockerfile: 'FROM base', upload: true })
      for (let count = 0; count < 20; count++) await make(`one-${count}`)
      return {
        call: () => make('more'),
        take: who.take,
        meanwhile: async () => {
          const { body } = await who.call('list_sandbox_templates')
          await who.take('delete_sandbox_template', { template_id: body.items[0].id })
        },
      }
    },
    template_busy: async () => {
      const who = await buyer()
      const { body } = await who.call('create_sandbox_template', { name: 'one', dockerfile: 'FROM base' })
      const call = () => who.call('build_sandbox_template', { template_id: body.template.id })
      return { call, take: who.take, meanwhile: () => service.buildTemplates() }
    },
    dockerfile_invalid: async () => {
      const who = await buyer()
      const make = (dockerfile: string) => who.call('create_sandbox_template', { name: 'one', dockerfile })
      return { call: () => make('FROM base\nADD a b'), take: who.take, further: () => make('FROM base') }
    },
    sandbox_snapshot_limit: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      const keep = () => who.take('create_sandbox_snapshot', { sandbox_id })
      for (let count = 0; count < 20; count++) await who.call('create_sandbox_snapshot', { sandbox_id })
      return {
        call: keep,
        take: who.take,
        meanwhile: async () => {
          const { body } = await who.call('list_sandbox_snapshots')
          await who.take('delete_sandbox_snapshot', { snapshot_id: body.items[0].id })
        },
      }
    },
    task_ended: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      const { body } = await who.call('exec_command', { sandbox_id, command: 'true', background: true })
      const { task_id } = body
      await who.call('get_task', { sandbox_id, task_id, timeout: 10 })
      return {
        call: () => who.call('send_input', { sandbox_id, task_id, input: 'x' }),
        take: who.take,
        further: () => who.call('get_task', { sandbox_id, task_id }),
      }
    },
    unknown_template: async () => {
      const who = await buyer()
      return {
        call: () => who.call('create_sandbox', { template: 'none' }),
        take: who.take,
        further: () => who.call('create_sandbox', { template: 'base' }),
      }
    },
    unknown_context: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      await who.call('run_code', { sandbox_id, code: '1', context: 'mine' })
      const run = (context: string) =>
        who.call('run_code', { sandbox_id, language: 'node', code: '1', context })
      return {
        call: () => run('mine'),
        take: who.take,
        fill: { run_code: { code: '1' } },
        further: () => run('other'),
      }
    },
    unknown_language: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      const { tasks } = service.channel
      const { run } = tasks
      const { SandboxError } = await import('@coinrack/compute/ports/sandbox-runtime.ts')
      tasks.run = async () => {
        throw new SandboxError('language_unknown', 'scripted: no interpreter')
      }
      let other = ''
      return {
        call: () => who.call('run_code', { sandbox_id, code: '1' }),
        take: async (tool, input) => {
          const answer = await who.take(tool, input)
          other = answer.body.id
          return answer
        },
        meanwhile: () => {
          tasks.run = run
        },
        further: () => who.call('run_code', { sandbox_id: other, code: '1' }),
      }
    },
    task_refused: inSandbox('exec_command', { command: 'true', cwd: '/none' }, { command: 'true' }),
    network_unavailable: async () => {
      const poor = await startTestService({ sandboxes: { hasNetworks: false } })
      const { token } = await poor.customer(9_000_000n)
      const call = (tool: string, input: Input = {}) => poor.tool(tool, input, { token })
      return {
        call: () => poor.ask('POST', '/sandboxes', { token, body: { network: { allow_internet: true } } }),
        take: call,
        further: async () => {
          const listed = await call('list_sandboxes')
          await poor.close()
          return listed
        },
      }
    },
    sandboxes_unavailable: async () => {
      const poor = await startTestService({ sandboxes: false, env: { COINRACK_SANDBOXES: 'false' } })
      const { token } = await poor.customer(9_000_000n)
      return {
        call: () => poor.ask('POST', '/sandboxes', { token, body: {} }),
        // It is for the operator to have some: other hosts do.
        further: async () => {
          await poor.close()
          const who = await buyer()
          return who.call('create_sandbox')
        },
      }
    },
    link_invalid: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      await who.call('write_file', { sandbox_id, path: 'a', content: 'x' })
      const { body } = await who.call('get_download_url', { sandbox_id, path: 'a', expires_in: 1 })
      let url = local(body.url)
      service.clock.advance(2000)
      return {
        call: () => get(url),
        take: async (tool, input) => {
          const answer = await who.call(tool, input)
          url = local(answer.body.url)
          return answer
        },
      }
    },
    preview_closed: async () => {
      const who = await buyer()
      const { server, expose, path, sandbox_id } = await served(who)
      return {
        call: () => get(path),
        take: (tool, input) => who.call(tool, { sandbox_id, ...input }),
        meanwhile: expose,
        further: async () => {
          const answer = await get(path)
          await close(server)
          return answer
        },
      }
    },
    preview_blocked: async () => {
      const who = await buyer()
      const { server, expose, sandbox_id, port } = await served(who)
      await expose()
      const operate = (...words: string[]) => runOperator(testOperator(service.services), words)
      await operate('preview', 'block', `${port}-${sandbox_id}`, '--reason', 'Phishing')
      await who.call('unexpose_port', { sandbox_id, port })
      await close(server)
      return {
        call: expose,
        take: who.take,
        fill: { create_ticket: { subject: 'A port', body: 'It was no phishing.' } },
        further: () => who.call('expose_port', { sandbox_id, port: port === 8080 ? 8081 : 8080 }),
      }
    },
    preview_token_missing: async () => {
      const who = await buyer()
      const { server, expose, path, sandbox_id } = await served(who, { access: 'token' })
      await expose()
      let token = ''
      return {
        call: () => get(path),
        take: async (tool, input) => {
          const answer = await who.call(tool, { sandbox_id, ...input })
          token = answer.body.items[0].token
          return answer
        },
        further: async () => {
          const answer = await get(path, { 'x-preview-token': token })
          await close(server)
          return answer
        },
      }
    },
    port_refused: async () => {
      const who = await buyer()
      const { server, expose, path, port, sandbox_id } = await served(who)
      await expose()
      await close(server)
      let again: typeof server | undefined
      return {
        call: () => get(path),
        take: (tool, input) => who.call(tool, { sandbox_id, ...input }),
        meanwhile: () =>
          new Promise<void>((resolve) => {
            again = createServer((_request, response) => response.end('here')).listen(port, '127.0.0.1', () =>
              resolve(),
            )
          }),
        further: async () => {
          const answer = await get(path)
          await close(again!)
          return answer
        },
      }
    },
  } satisfies Record<string, Row>
}
