// Rewrites a piece of code so that it can be run after others: what it declares at the top stays, and may be declared
// again; it may import, and await at the top, and its last expression is its value all the same.
const acorn = require('internal/deps/acorn/acorn/dist/acorn')
const { processTopLevelAwait } = require('internal/repl/await')

// Such as these alone need it.
const NEEDS_IT = /\b(?:const|let|class|import|await)\b/
const OPTIONS = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
}

/** @returns `awaits`: the value is the `value` of what the text promises. Code that does not parse is left as it is. */
function prepare(code) {
  if (!NEEDS_IT.test(code)) return { text: code, awaits: false }
  let text = code
  try {
    const { body } = acorn.parse(code, OPTIONS)
    for (const node of body.reverse()) {
      const replacement = declared(node, code)
      if (replacement !== undefined) text = text.slice(0, node.start) + replacement + text.slice(node.end)
    }
    const awaiting = processTopLevelAwait(text)
    return { text: awaiting ?? text, awaits: awaiting !== null }
  } catch {
    return { text: code, awaits: false }
  }
}

/** A declaration as one that may be repeated; undefined of what is none. */
function declared(node, code) {
  const source = code.slice(node.start, node.end)
  switch (node.type) {
    case 'VariableDeclaration':
      // Lines and columns stay where they were.
      if (node.kind === 'const') return `var  ${source.slice('const'.length)}`
      return node.kind === 'let' ? `var${source.slice('let'.length)}` : undefined
    case 'ClassDeclaration':
      return `var ${node.id.name} = ${source};`
    case 'ImportDeclaration':
      return imported(node)
    default:
      return undefined
  }
}

function imported({ specifiers, source }) {
  const module = `await import(${JSON.stringify(source.value)})`
  const whole = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')
  const names = specifiers
    .filter((specifier) => specifier !== whole)
    .map(({ imported: name, local }) => `${name ? (name.raw ?? name.name) : 'default'}: ${local.name}`)
  const parts = [
    ...(whole ? [`${whole.local.name} = ${module}`] : []),
    ...(names.length > 0 ? [`{ ${names.join(', ')} } = ${module}`] : []),
  ]
  return parts.length > 0 ? `var ${parts.join(', ')};` : `void (${module});`
}

// Node.js compiles a function when it first runs, which takes an emulated processor long. With a piece of each kind, what parses
// and rewrites is there before a sandbox is cloned.
prepare(`import { one, two as three } from 'node:net'
const { four, ...five } = { one, [three]: 6 }, eight = [1, ...[2]]
let nine = \`\${four}\`.length > 0 ? /ten/g : await Promise.all(eight.map(async (each, index) => each + index))
class Eleven extends Object { #twelve = 12; static thirteen() { return new this() } get fourteen() { return this.#twelve } }
for (const each of eight) { try { if (!each) continue; else break } catch { throw new Error('fifteen') } finally { nine ??= 1 } }
function* sixteen(a = 1) { for (let i = 0; i < a; i++) yield i; while (false) switch (a) { case 1: default: } }
for await (const each of sixteen()) void each
nine?.[0]?.toString()`)

module.exports = { prepare }
