import { type Html, html } from '../html.ts'
import { qrCode } from './qr-code.ts'
import { type CheckoutView, type Choice, networkNames, type PaymentOption } from './view.ts'

export interface PanelOptions {
  chosen: Choice | undefined
  /** Where the test faucet is asked to pay; only where the money is test money. */
  demoPayUrl: string | undefined
}

/**
 * How to pay: a network, a token, and for each pair the exact amount, the address and two QR codes. All pairs are
 * there and the style sheet shows the chosen one, so that choosing needs no script.
 */
export function paymentPanels({ invoice }: CheckoutView, { chosen, demoPayUrl }: PanelOptions): Html {
  const options = invoice.payment_options
  const first = options[0]
  if (!first) return html``
  const networks = [...new Set(options.map(({ network }) => network))]
  const tokens = [...new Set(options.map(({ token }) => token))]
  const { network, token } = options.find((option) => isSame(option, chosen)) ?? first
  const pairs = networks.flatMap((name) => tokens.map((symbol) => ({ network: name, token: symbol })))
  return html`<section class="card pay" aria-labelledby="pay-title">
    <h2 id="pay-title">How would you like to pay?</h2>
    <div class="choices">
      <fieldset><legend>Network</legend><div class="radios">
        ${networks.map((name) => radio('network', name, networkNames[name], name === network))}
      </div></fieldset>
      <fieldset><legend>Token</legend><div class="radios">
        ${tokens.map((symbol) => radio('token', symbol, symbol, symbol === token))}
      </div></fieldset>
    </div>
    ${pairs.map((pair) => {
      const option = options.find((candidate) => isSame(candidate, pair))
      return option ? panel(option, demoPayUrl) : missing(pair)
    })}
  </section>`
}

const isSame = (option: Choice, choice: Choice | undefined) =>
  option.network === choice?.network && option.token === choice.token

const panelId = ({ network, token }: Choice) => `pay-${network}-${token}`

const radio = (name: string, value: string, label: string, checked: boolean) =>
  html`<label class="radio"><input type="radio" name="${name}" value="${value}" id="${name}-${value}"${checked && html` checked`}><span>${label}</span></label>`

const missing = (pair: Choice) =>
  html`<p class="panel missing" id="${panelId(pair)}">${pair.token} is not accepted on ${networkNames[pair.network]}. Please choose another token or network.</p>`

function panel(option: PaymentOption, demoPayUrl: string | undefined): Html {
  const network = networkNames[option.network]
  return html`<div class="panel" id="${panelId(option)}">
    <dl class="facts">
      <div class="fact">
        <dt>Send exactly</dt>
        <dd><strong class="amount">${option.amount} <span class="unit">${option.token}</span></strong>${copyButton(option.amount, 'amount')}</dd>
      </div>
      <div class="fact">
        <dt>On the network (chain ${option.chain_id})</dt>
        <dd><strong class="network"><span class="dot ${option.network}" aria-hidden="true"></span>${network}</strong></dd>
      </div>
      <div class="fact wide">
        <dt>To the address</dt>
        <dd><span class="address" translate="no">${addressGroups(option.address)}</span>${copyButton(option.address, 'address')}</dd>
      </div>
    </dl>
    <div class="codes">
      <figure>${qrCode(option.address, `QR code of the address ${option.address}`)}<figcaption><b>Address</b><br>for any wallet or exchange; type the amount yourself</figcaption></figure>
      <figure>${qrCode(option.uri, `QR code of a transfer of ${option.amount} ${option.token} on ${network}`)}<figcaption><b>Whole transfer</b><br>network, token and amount included (EIP‑681)</figcaption></figure>
    </div>
    <div class="actions">
      <a class="button" href="${option.uri}" rel="noreferrer">Open in a wallet</a>
      ${demoPayUrl !== undefined && demoPayForm(option, demoPayUrl)}
    </div>
    <p class="hint contract">${option.token} contract on ${network}: <code translate="no">${option.token_address}</code></p>
  </div>`
}

const demoPayForm = (option: PaymentOption, action: string) =>
  html`<form class="demo-pay" method="post" action="${action}">
    <input type="hidden" name="network" value="${option.network}"><input type="hidden" name="token" value="${option.token}">
    <button class="button test" type="submit">Pay with the test faucet</button>
  </form>`

/** In fours, so that it can be compared by eye; upper and lower case are its checksum (EIP-55). */
function addressGroups(address: string): Html {
  const groups = address.slice(2).match(/.{4}/g)!
  const ends = [0, groups.length - 1]
  return html`<span class="prefix">0x</span>${groups.map((group, index) =>
    ends.includes(index) ? html`<b>${group}</b>` : html`<span>${group}</span>`,
  )}`
}

const copyButton = (text: string, what: string) =>
  html`<button class="copy" type="button" data-copy="${text}" aria-label="Copy the ${what}">Copy</button>`
