import { freePort } from '@coinrack/host/free-port.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'
import { keepReconciling } from './keep-reconciling.ts'
import { repositoryFiles } from './sources.ts'

/** Where guides and pages of packages say that the service is, and who reads them. */
const ORIGINS = /http:\/\/127\.0\.0\.1:8080|https:\/\/vps\.example\.net/g
const EMAILS = /me@example\.com|agent@your-domain\.net/g

/** A service of the demo profile, with real chains and fakes of machines, that a guide is played against. */
export async function startGuideService() {
  const demo = await startTestChains()
  const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = { COINRACK_PUBLIC_URL: origin }
  const service = await startTestService({ chains, demo: demo.demo, env, features: ['guestCommands'] })
  await service.app.listen({ host: '127.0.0.1', port })
  const endPayments = runPayments(service.services)
  const endReconciling = keepReconciling(service, 100)
  return {
    origin,
    /** A guide's program as it stands there, with this service and this reader. */
    playable: (program: string, email: string) => program.replace(ORIGINS, origin).replace(EMAILS, email),
    async close() {
      await endReconciling()
      await endPayments()
      await service.close()
      await demo.stop()
    },
  }
}

/**
 * The program of a guide: its blocks one after the other, and what they print, as its lines that begin with a mark.
 * @param mark begins a comment of the language
 */
export function readGuide(path: string, language: string, mark: string) {
  const { text } = repositoryFiles().find((file) => file.path === path)!
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
  const program = blocks.map(([, code]) => code).join('\n')
  const printed = program
    .split('\n')
    .filter((line) => line.startsWith(`${mark} `))
    .map((line) => line.slice(mark.length + 1))
  return { program, printed, blocks: blocks.length }
}
