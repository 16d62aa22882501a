import { type Html, html } from '../html.ts'
import type { ConsoleParts } from './assets.ts'

export interface ConsolePageOptions {
  type: 'serial' | 'vnc'
  socketUrl: string
  /** The nonce of the page's styles: the terminal writes some of its own. */
  nonce: string
  parts: ConsoleParts
}

/** The page of one console link: a terminal, or the screen. It connects when it is loaded, which uses the link up. */
export function consolePage({ type, socketUrl, nonce, parts }: ConsolePageOptions): string {
  const isSerial = type === 'serial'
  return document(
    isSerial ? 'Serial console' : 'Screen',
    parts,
    html`<header>
      <h1>${isSerial ? 'Serial console' : 'Screen'}</h1>
      <p id="state" role="status" aria-live="polite">Connecting…</p>
      ${
        !isSerial &&
        html`<button type="button" id="login">Log in (Ctrl+Alt+F2)</button>
      <button type="button" id="secure-attention">Ctrl+Alt+Del</button>`
      }
    </header>
    <main id="console" data-socket="${socketUrl}" data-nonce="${nonce}" data-terminal="${parts.terminal}" data-fit="${parts.fit}" data-screen="${parts.screen}"></main>
    <noscript><p>A console needs a browser that runs scripts.</p></noscript>`,
    html`${isSerial && html`<link rel="stylesheet" href="${parts.terminalStyle}">`}
  <script type="module" src="${isSerial ? parts.serialScript : parts.screenScript}"></script>`,
  )
}

/** For a link that was used, is too old, or never was. */
export const spentConsolePage = (parts: ConsoleParts): string =>
  document(
    'No console here',
    parts,
    html`<header><h1>This link opens no console</h1></header>
    <p class="note">A link opens one console, once, within ten minutes. Ask for another with <code>POST /services/{id}/console</code> or the tool <code>open_console</code>.</p>`,
  )

function document(title: string, parts: ConsoleParts, body: Html, head: Html | false = false): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} · Coinrack</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="dark">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${parts.style}">
  ${head}
</head>
<body>
  ${body}
</body>
</html>`.text
}
