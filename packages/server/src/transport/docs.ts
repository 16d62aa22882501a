import { basePath, operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** The facts that an agent needs in order to begin, as plain text (llmstxt.org). */
export function llmsText(origin: string): string {
  const lines = operationList.map(
    ([name, op]) => `- ${toolName(name)} (${op.method} ${op.path}): ${op.summary}`,
  )
  return `# Coinrack

> Virtual servers, prepaid in stablecoins, for developers and autonomous agents. No identity check, no human step.

- Agent endpoint (MCP, Streamable HTTP): ${origin}/mcp
- REST: ${origin}${basePath}
- OpenAPI 3.1: ${origin}${basePath}/openapi.json

Begin with the tool get_started, or register_account. A token is needed for all but the public operations:
"Authorization: Bearer <token>", or the tool input access_token. Every error says in "fix" what to do.

## Operations

${lines.join('\n')}
`
}

/** The same for people. */
export function docsPage(origin: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coinrack: the interface</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
  body { max-width: 56rem; margin: 0 auto; padding: 2rem 1rem }
  code { font: 0.9em ui-monospace, monospace }
  article { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: 1rem 0 }
  h1, h2 { line-height: 1.2 } h2 { font-size: 1.1rem; margin: 0 }
  pre { overflow-x: auto; padding: .75rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 8%, transparent) }
  .access { opacity: .7 }
</style>
<h1>Coinrack</h1>
<p>Virtual servers, prepaid in stablecoins. Agents connect to <code>${escapeHtml(origin)}/mcp</code> and begin with
<code>get_started</code>; programs speak REST below <code>${escapeHtml(origin + basePath)}</code>, described by
<a href="${basePath}/openapi.json">openapi.json</a>.</p>
${operationList.map(([name, op]) => entry(name, op)).join('\n')}
</html>
`
}

function entry(name: string, op: Operation): string {
  const access = op.access === 'public' ? 'public' : `token with scope ${op.access}`
  return `<article id="${name}">
<h2>${escapeHtml(op.summary)}</h2>
<p><code>${op.method} ${escapeHtml(op.path)}</code> &middot; tool <code>${toolName(name)}</code> &middot; <span class="access">${access}</span></p>
<p>${escapeHtml(op.description)}</p>
<pre>${escapeHtml(JSON.stringify(op.example, null, 2))}</pre>
</article>`
}
