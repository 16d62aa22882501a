import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type DemoMoney, payOnDemoChain } from '@coinrack/cli/pay-on-demo-chain.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { root } from './sources.ts'

/** A service with real chains and payments, whose machines are fakes, and which works in the background as a real one does. */
export interface ServiceForCommands {
  service: TestService
  url: string
  demo: DemoChains
  /** Pays the newest open invoice of a customer, in USDC on Base. */
  payOpenInvoice(token: string): Promise<void>
  stop(): Promise<void>
}

/** Its clock is at the present, as tokens are good for a while from then on. */
export async function startServiceForCommands(): Promise<ServiceForCommands> {
  const demo = await startTestChains()
  const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
  const service = await startTestService({ chains, demo: demo.demo }, { start: new Date() })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  service.services.config.publicUrl = url
  const endPayments = runPayments(service.services)
  const over = new AbortController()
  const background = (async () => {
    while (!over.signal.aborted) {
      await service.reconcile()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  return {
    service,
    url,
    demo,
    async payOpenInvoice(token) {
      const client = createClient({ url, token })
      for (;;) {
        const { items } = await client.listInvoices({ status: 'unpaid' })
        const option = items[0]?.payment_options.find(
          (each) => each.network === 'base' && each.token === 'USDC',
        )
        if (option) return void (await payOnDemoChain(demo.demo as DemoMoney, option))
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async stop() {
      over.abort()
      await background
      await endPayments()
      await service.close()
      await demo.stop()
    },
  }
}

interface Ended {
  /** Null when a signal ended it. */
  code: number | null
  stdout: string
  stderr: string
}

/** The command line as a process of its own. */
export interface Running {
  child: ChildProcess
  /** Resolves once standard output and standard error together contain the text. */
  until(text: string): Promise<void>
  /** What it has said so far. */
  output(): string
  ended: Promise<Ended>
}

/** Starts `coinrack`, or another program with it, as a shell would. */
export function startCommand(
  words: string[],
  options: { env: Record<string, string>; input?: string; program?: [string, ...string[]] },
): Running {
  const [program, ...before] = options.program ?? [
    process.execPath,
    join(root, 'packages/cli/src/coinrack.ts'),
  ]
  const child = spawn(program, [...before, ...words], {
    env: { PATH: process.env.PATH!, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
      for (const look of listeners) look()
    })
  child.stdin.on('error', () => {})
  if (options.input !== undefined) child.stdin.end(options.input)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...said }))
  })
  return {
    child,
    ended,
    output: () => `${said.stdout}${said.stderr}`,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!`${said.stdout}${said.stderr}`.includes(text)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        void ended.then(({ code }) =>
          reject(new Error(`It ended with ${code} before "${text}": ${said.stdout}${said.stderr}`)),
        )
        look()
      }),
  }
}

/** Runs it to its end. */
export const runProcess = (words: string[], options: Parameters<typeof startCommand>[1]) =>
  startCommand(words, { input: '', ...options }).ended
