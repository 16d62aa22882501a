import { type Html, html } from '../html.ts'
import { roomPage } from '../shell/whole-page.ts'
import { provingScript } from './assets.ts'

export interface ProvingPageOptions {
  /** The path of the page that is behind the proof; what the forms send goes to paths below it. */
  path: string
  demo: boolean
  /** Why the person is asked to prove who they are: who asks, and for what. */
  heading: string
  why: Html
  /** The address to which a code was sent; its code is asked for then. */
  sentTo: string | undefined
  problem: string | undefined
}

/**
 * Asks a person to prove who they are: by a code from the mailbox of the account, or by the signature of its wallet.
 * Without scripts it is two forms; a script adds the wallets of the browser.
 */
export function provingPage(options: ProvingPageOptions): string {
  const { path, demo, heading, why, sentTo, problem } = options
  return roomPage(
    heading,
    { demo, scripts: [provingScript.path] },
    html`<h1>${heading}</h1>
    ${why}
    <p class="problem" role="alert">${problem}</p>
    ${sentTo === undefined ? addressForm(path) : codeForm(path, sentTo)}
    <div class="wallets" hidden data-challenge="${path}/challenge" data-signature="${path}/signature">
      <p class="hint">Or log in with a wallet that has an account here. The signature moves no money.</p>
      <p class="wallet-said" role="status" aria-live="polite"></p>
    </div>`,
  )
}

const addressForm = (path: string): Html => html`<form method="post" action="${path}/address">
      <label class="field">Your e-mail address
        <input name="email" type="email" autocomplete="email" required maxlength="254" autofocus>
        <span class="hint">A code is sent to it, which logs you in. A first code opens an account.</span>
      </label>
      <button class="button">Send a code</button>
    </form>`

const codeForm = (path: string, sentTo: string): Html => html`<form method="post" action="${path}/code">
      <input type="hidden" name="email" value="${sentTo}">
      <label class="field">The code from the mail to ${sentTo}
        <input name="code" autocomplete="one-time-code" inputmode="numeric" required maxlength="40" autofocus>
        <span class="hint">It is good for 10 minutes.</span>
      </label>
      <button class="button">Continue</button>
    </form>
    <p><a href="${path}">Send a new code, or use another address</a></p>`

/** A page that says what went wrong, and what to do. */
export const problemPage = (demo: boolean, heading: string, text: string): string =>
  roomPage(heading, { demo }, html`<h1>${heading}</h1><p>${text}</p>`)

/** A page that leads on by itself: to where no form may lead, since it is another site or another program. */
export const leadOnPage = (demo: boolean, heading: string, text: string, to: string): string =>
  roomPage(
    heading,
    { demo, head: html`<meta http-equiv="refresh" content="0; url=${to}">` },
    html`<h1>${heading}</h1><p>${text}</p><p><a class="button" href="${to}">Continue</a></p>`,
  )
