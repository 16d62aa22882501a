import type { Scope } from '@coinrack/contract/operation.ts'
import { type Html, html } from '../html.ts'
import { roomPage } from '../shell/whole-page.ts'

/** Who asks for access, and for what. */
export interface ConsentView {
  /** The name that the application gives itself. */
  name: string
  /** The host that the application is known by; undefined when anyone could have chosen its name. */
  host: string | undefined
  /** Where the answer goes, in words. */
  place: string
  scopes: Scope[]
}

export interface ConsentOptions {
  path: string
  demo: boolean
  /** The person, by the address of the account. */
  who: string
  /** USD, as decimals. */
  proposed: { per_day: string; total: string }
}

/** What each right allows, for a person. */
const RIGHTS: Record<Scope, string> = {
  read: 'See servers, sandboxes, balance and invoices',
  order: 'Order servers, from the budget below',
  manage: 'Operate servers: commands, restarts, reinstallation, cancellation',
  sandbox: 'Run code in sandboxes, from the budget below',
  billing: 'Make invoices for top-ups',
  account: 'Change the name of the account, its SSH keys, webhooks and delegations',
}

/** What stands above the proof of who the person is. */
export const consentIntro = (view: ConsentView): { heading: string; why: Html } => ({
  heading: `${view.name} asks for access to your account`,
  why: html`${whoAsks(view)}
    <p>Please log in first; then you choose what it may do, and how much it may spend.</p>`,
})

/** The page on which a person who is logged in lets an application in, or refuses. */
export const consentPage = (view: ConsentView, { path, demo, who, proposed }: ConsentOptions): string =>
  roomPage(
    `Access for ${view.name}`,
    { demo },
    html`<h1>Let ${view.name} use your account?</h1>
    ${whoAsks(view)}
    <p>You are logged in as <strong>${who}</strong>.</p>
    <form method="post" action="${path}/decision">
      <fieldset class="checks">
        <h2>It may</h2>
        ${view.scopes.map(
          (scope) => html`<label class="check"><input type="checkbox" name="scope" value="${scope}" checked>
          <span>${RIGHTS[scope]}</span></label>`,
        )}
      </fieldset>
      <h2>It may spend, in US dollars of your balance</h2>
      <div class="choices-of-two">
        <label class="field">A day<input name="per_day" inputmode="decimal" required value="${proposed.per_day}" pattern="\\d+([.]\\d{1,6})?"></label>
        <label class="field">In all<input name="total" inputmode="decimal" required value="${proposed.total}" pattern="\\d+([.]\\d{1,6})?"></label>
      </div>
      <label class="field">Ask me first when one call costs more than
        <input name="ask_above" inputmode="decimal" placeholder="No question" pattern="\\d+([.]\\d{1,6})?">
        <span class="hint">You get a page on which you say yes or no. Leave it empty to let it spend its budget without asking.</span></label>
      <label class="check"><input type="checkbox" name="auto_renew">
        <span>Servers that it orders may renew themselves, within this budget</span></label>
      <p class="hint">You can end this at any time with revoke_token, and see what it has spent with list_tokens.</p>
      <div class="choices-of-two">
        <button class="button plain" name="decision" value="deny">Refuse</button>
        <button class="button" name="decision" value="allow">Let it in</button>
      </div>
    </form>`,
  )

const whoAsks = ({ name, host, place }: ConsentView): Html => html`<dl class="facts">
      <dt>Application</dt><dd>${name}</dd>
      <dt>Known by</dt><dd>${host ?? html`<strong>This name is not verified.</strong> Any application can choose it.`}</dd>
      <dt>Answers go to</dt><dd>${place}</dd>
    </dl>`
