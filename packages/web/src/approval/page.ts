import type { JudgedApproval } from '@coinrack/contract/approvals.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { z } from 'zod'
import { type Html, html } from '../html.ts'
import { roomPage } from '../shell/whole-page.ts'

export interface ApprovalPageOptions {
  /** The path of this page; its form sends to `/decision` below it. */
  path: string
  demo: boolean
  approval: z.output<typeof JudgedApproval>
  /** The name of the token whose call it is, if it has one. */
  tokenName: string | null
  /** Above which limit it is, in words. */
  limit: string
}

/** What stands above the proof, for every holder of the link: nothing of the account, nor of what is asked. */
export const approvalIntro: { heading: string; why: Html } = {
  heading: 'A program asks for your approval',
  why: html`<p>It wants to spend money from the balance of an account. If the account is yours, prove that here: then you see what it
      is for, and can approve or deny it. Nothing is charged unless you approve it.</p>`,
}

/** A charge that waits for the decision of the account's owner, who has just proven who they are. */
export function approvalPage({ path, demo, approval, tokenName, limit }: ApprovalPageOptions): string {
  const { subject, price, afterwards, token_id, now, after, risk, expires_at } = approval
  const heading = `Approve ${formatUsd(price)} USD?`
  return roomPage(
    heading,
    { demo },
    html`<h1>${heading}</h1>
    <dl class="facts">
      <dt>For</dt><dd>${subject}</dd>
      <dt>At most</dt><dd>${formatUsd(price)} USD, once</dd>
      <dt>Then</dt><dd>${afterwards === null ? 'nothing more' : `${formatUsd(afterwards.price)} USD more ${afterwards.per === 'hour' ? 'each hour' : 'each month'}`}</dd>
      <dt>Asked by</dt><dd>${tokenName === null ? '' : html`${tokenName}, `}<code>${token_id}</code></dd>
      <dt>Because</dt><dd>${limit}</dd>
      <dt>Balance</dt><dd>${formatUsd(now.balance)} USD, after it ${formatUsd(after.balance)} USD</dd>
      <dt>It lasts</dt><dd>${lasting(now.runs_out_at)}; after it ${lasting(after.runs_out_at)}</dd>
    </dl>
    <h2>What you should know</h2>
    <ul class="risk">${risk.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    <form method="post" action="${path}/decision">
      <div class="choices-of-two">
        <button class="button plain" name="decision" value="denied">Deny</button>
        <button class="button" name="decision" value="approved">Approve</button>
      </div>
    </form>
    <p class="hint">You can decide until ${minute(expires_at)}.</p>`,
  )
}

/** A page about an approval that there is nothing to decide on any more. */
export const decidedPage = (demo: boolean, heading: string, text: string): string =>
  roomPage(heading, { demo }, html`<h1>${heading}</h1><p>${text}</p>`)

const lasting = (until: Date | null) => (until === null ? 'with no end in sight' : `until ${minute(until)}`)

/** For people, in UTC. */
export const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
