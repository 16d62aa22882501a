import { basePath, operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { about } from './about.ts'

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Every operation on a page, for people. */
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
<p>${escapeHtml(about.description)}. Agents connect to <code>${escapeHtml(origin)}/mcp</code> and begin with
<code>get_started</code>; programs speak REST below <code>${escapeHtml(origin + basePath)}</code>, described by
<a href="/openapi.json">openapi.json</a>. For agents the same is in <a href="/llms.txt">llms.txt</a>,
<a href="/llms-full.txt">llms-full.txt</a> and a <a href="/skill.md">skill</a>.</p>
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
