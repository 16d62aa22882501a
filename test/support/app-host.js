import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  AppBridge,
  getToolUiResourceUri,
  PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge'

/*
 * A chat that shows cards, for a page of a test: the host of the official ext-apps, connected to the agent endpoint by the
 * official client.
 */

/** The strictest that a host may ask of a card that names no domains. */
const CSP =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'"

/** Calls a tool and shows its card. @returns the links that the card has asked to open */
globalThis.showTool = async ({ endpoint, token, name, args, capabilities }) => {
  const client = new Client({ name: 'chat', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }))
  const { tools } = await client.listTools()
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name))
  const { contents } = await client.readResource({ uri })
  const [card] = contents

  const opened = []
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  document.body.replaceChildren(frame)
  const bridge = new AppBridge(client, { name: 'chat', version: '1' }, capabilities)
  bridge.onopenlink = async ({ url }) => {
    opened.push(url)
    return {}
  }
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`
  }
  const ready = new Promise((resolve) => {
    bridge.oninitialized = resolve
  })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.srcdoc = card.text.replace(
    '<head>',
    `<head><meta http-equiv="Content-Security-Policy" content="${CSP}">`,
  )
  await ready
  await bridge.sendToolInput({ arguments: args })
  client.callTool({ name, arguments: args }).then((result) => bridge.sendToolResult(result))
  globalThis.opened = opened
  return { mimeType: card.mimeType, meta: card._meta }
}
