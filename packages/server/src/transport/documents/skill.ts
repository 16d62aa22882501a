import { createHash } from 'node:crypto'
import { sandboxFlow, vpsFlow } from '@coinrack/contract/flows.ts'
import { basePath, operationList, type operations } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { Config } from '../../config/config.ts'
import { version } from '../../platform/version.ts'
import { mcpAddresses } from '../mcp/addresses.ts'
import { about } from './about.ts'
import { bySubject } from './by-subject.ts'

/** Where skills of a site are looked for: the draft 0.2, and the first one. */
const FOLDERS = ['/.well-known/agent-skills', '/.well-known/skills'] as const
const [FOLDER, EARLIER] = FOLDERS

const describe = (publicUrl: string) =>
  `Rents virtual servers (VPS) and code sandboxes at ${new URL(publicUrl).host}, prepaid in stablecoins, with no identity check and no human step. Use it to run code or commands somewhere else, to get a server with SSH, or to pay for one from a wallet.`

/** The skill of using this service, as an agent loads it: front matter and instructions (https://agentskills.io/specification). */
export function skill({ publicUrl, sandboxes }: Config): string {
  const front = {
    name: about.name,
    description: describe(publicUrl),
    compatibility: 'Needs a connection to the internet',
  }
  return `---
${Object.entries(front)
  .map(([name, text]) => `${name}: ${JSON.stringify(text)}`)
  .join('\n')}
metadata:
  version: ${JSON.stringify(version)}
---

# ${about.title}

${about.description}. Connect by MCP (Streamable HTTP) to ${publicUrl}${mcpAddresses[0]!.path}; each tool is also an HTTP
request below ${publicUrl}${basePath}, described by ${publicUrl}/openapi.json.

## Rules

- A token opens everything but the public tools: send it as the header \`Authorization: Bearer <token>\`, or as the input
  \`access_token\` of a tool. Keep it secret, and out of what you show to others.
- Follow \`next_steps\` of an answer. An error has \`message\`, \`code\`, \`fix\` and \`next_steps\`; where it has \`retry_after\`, wait
  so many seconds.
- Repeat a write only with the same \`idempotency_key\` (by HTTP the header \`Idempotency-Key\`): then it is done once.
- Amounts are US dollars as decimal text. 402 means that nothing was charged.
- Ask your user before you spend more than you were told to.

## From nothing to a VPS

${steps(vpsFlow)}
${
  sandboxes
    ? `
## From a balance to code that has run

${steps(sandboxFlow)}
`
    : ''
}
## Pay with one signature

${operationList
  .filter(([, op]) => op.x402)
  .map(
    ([name, op]) => `- \`${toolName(name)}\`: ${op.summary}${op.access === 'public' ? ', in one call' : ''}`,
  )
  .join('\n')}

The first call answers with what to sign (x402), the same call with the payment does it. ${publicUrl}/.well-known/x402 lists
networks and tokens. \`${toolName('requestWalletChallenge' satisfies keyof typeof operations)}\` begins the way back to what a wallet has.

## Every tool

${bySubject
  .map(
    ({ subject, all }) =>
      `${subject}: ${all.map(([name, op]) => `\`${toolName(name)}\` (${op.summary})`).join(', ')}`,
  )
  .join('\n\n')}

Inputs, answers and errors of each: ${publicUrl}/llms-full.txt
`
}

const steps = (flow: readonly NextStep[]) =>
  flow
    .map(
      ({ tool, why, arguments: input }, index) =>
        `${index + 1}. \`${tool}\`: ${why}${input ? `\n   \`${JSON.stringify(input)}\`` : ''}`,
    )
    .join('\n')

/** The paths of the skill itself. */
export const skillPaths = ['/skill.md', ...FOLDERS.map((folder) => `${folder}/${about.name}/SKILL.md`)]

/**
 * The list of this site's skills, which is one, with a digest of its very bytes.
 * https://github.com/cloudflare/agent-skills-discovery-rfc
 */
export const skillIndex = (config: Config) => ({
  $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
  skills: [
    {
      name: about.name,
      type: 'skill-md',
      description: describe(config.publicUrl),
      url: `${config.publicUrl}${FOLDER}/${about.name}/SKILL.md`,
      digest: `sha256:${createHash('sha256').update(skill(config)).digest('hex')}`,
    },
  ],
})

/** The same for clients of the draft before, which knew no digests. */
export const earlierSkillIndex = ({ publicUrl }: Config) => ({
  skills: [{ name: about.name, description: describe(publicUrl), files: ['SKILL.md'] }],
})

/** The paths of the two lists. */
export const skillIndexPaths = { now: `${FOLDER}/index.json`, earlier: `${EARLIER}/index.json` }
