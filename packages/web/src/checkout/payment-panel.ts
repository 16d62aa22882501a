import { type Html, html } from '../html.ts'
import { qrCode } from './qr-code.ts'
import { type CheckoutView, type Choice, type ExplorerOf, networkNames, type PaymentOption } from './view.ts'

/** The content of the code: the address alone, for any wallet or exchange, or the whole transfer (EIP-681). */
export type CodeKind = 'address' | 'transfer'

export interface PanelOptions {
  /** The path of the page. */
  path: string
  chosen: Choice | undefined
  code: CodeKind
  explorerOf: ExplorerOf
  /** Whether a wallet can pay so by its signature alone. */
  isGasless: (choice: Choice) => boolean
  /** Where the test faucet is asked to pay; only where the money is test money. */
  demoPayUrl: string | undefined
}

/**
 * How to pay: a network, a token, and for that pair the exact amount, the address and one QR code. Another pair is
 * another address of the page, so that choosing needs no script; the script fetches this section alone.
 */
export function paymentSection({ invoice }: CheckoutView, options: PanelOptions): Html {
  const ways = invoice.payment_options
  const first = ways[0]
  if (!first) return html``
  const networks = [...new Set(ways.map(({ network }) => network))]
  const tokens = [...new Set(ways.map(({ token }) => token))]
  const { chosen = first } = options
  const isOffered = networks.includes(chosen.network) && tokens.includes(chosen.token)
  const { network, token } = isOffered ? chosen : first
  const option = ways.find((way) => way.network === network && way.token === token)
  return html`<section class="card pay" aria-labelledby="pay-title">
    <h2 id="pay-title">How would you like to pay?</h2>
    <form class="choices" method="get" action="${options.path}">
      <fieldset><legend>Network</legend><div class="radios">
        ${networks.map((name) => radio('network', name, networkNames[name], name === network))}
      </div></fieldset>
      <fieldset><legend>Token</legend><div class="radios">
        ${tokens.map((symbol) => radio('token', symbol, symbol, symbol === token))}
      </div></fieldset>
      <noscript><button class="button" type="submit">Show this way to pay</button></noscript>
    </form>
    ${option ? panel(option, options) : missing({ network, token })}
  </section>`
}

const radio = (name: string, value: string, label: string, checked: boolean) =>
  html`<label class="radio"><input type="radio" name="${name}" value="${value}" id="${name}-${value}"${checked && html` checked`}><span>${label}</span></label>`

const missing = (pair: Choice) =>
  html`<p class="panel missing">${pair.token} is not accepted on ${networkNames[pair.network]}. Please choose another token or network.</p>`

function panel(option: PaymentOption, { path, code, explorerOf, isGasless, demoPayUrl }: PanelOptions): Html {
  const network = networkNames[option.network]
  const explorer = explorerOf(option.network)
  return html`<div class="panel" data-network="${option.network}" data-token="${option.token}" data-code="${code}">
    <div class="send">
      <div class="fact">
        <p class="label">Send exactly</p>
        <p class="value"><strong class="amount">${option.amount} <span class="unit">${option.token}</span></strong>${copyButton(option.amount, 'amount')}</p>
      </div>
      <div class="fact">
        <p class="label">On the network (chain ${option.chain_id})</p>
        <p class="value"><strong class="network"><span class="dot ${option.network}" aria-hidden="true"></span>${network}</strong></p>
      </div>
      <div class="fact">
        <p class="label">To the address</p>
        <p class="value"><span class="address" translate="no">${addressGroups(option.address)}</span>${copyButton(option.address, 'address')}</p>
      </div>
      <figure class="code">${code === 'address' ? addressCode(option) : transferCode(option, network)}
        <figcaption>${codeLink(option, path, code)}</figcaption></figure>
    </div>
    <section class="wallets" data-wallet="${path}/wallet" data-x402="${path}/x402"${isGasless(option) && html` data-gasless`} aria-label="Pay with a wallet in this browser" hidden></section>
    <div class="actions">
      <a class="button plain" href="${option.uri}" rel="noreferrer">Open in a wallet</a>
      ${demoPayUrl !== undefined && demoPayForm(option, demoPayUrl)}
    </div>
    <p class="hint contract">${option.token} contract on ${network}: ${contract(option, explorer)}</p>
  </div>`
}

const addressCode = ({ address }: PaymentOption) => qrCode(address, `QR code of the address ${address}`)

const transferCode = ({ uri, amount, token }: PaymentOption, network: string) =>
  qrCode(uri, `QR code of a transfer of ${amount} ${token} on ${network}`)

/** Leads to the other code. */
function codeLink({ network, token }: PaymentOption, path: string, code: CodeKind): Html {
  const other: CodeKind = code === 'address' ? 'transfer' : 'address'
  const [has, label] =
    code === 'address'
      ? ['The address, for any wallet', 'Code with the amount']
      : ['Network, token and amount too', 'Code of the address alone']
  return html`${has}<br><a data-show-code="${other}" href="${path}?network=${network}&token=${token}&code=${other}">${label}</a>`
}

function contract({ token_address }: PaymentOption, explorer: string | undefined): Html {
  const address = html`<code translate="no">${token_address}</code>`
  if (explorer === undefined) return address
  return html`<a href="${explorer}/token/${token_address}" target="_blank" rel="noopener noreferrer">${address}</a>`
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
