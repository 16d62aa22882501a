/*
 * Pays with a wallet that is in this browser (EIP-6963): either the wallet sends the transfer, or it signs it (EIP-3009)
 * and the service sends it. What is to be paid is asked of the server when the button is pressed.
 */

const pay = document.querySelector('[data-pay]')
/** By their identifier of this page. */
const wallets = new Map()
/** The place of a payment that is under way: its buttons stay as they are. */
let busy
/** Signed and not answered for certain: it is handed in again, and nothing else is signed before. */
let signed

const DECLINED = 4001
const BUSY = -32_002
const UNKNOWN_CHAIN = 4902
const HAND_IN_MS = [0, 2000, 5000, 10_000]

class Refusal extends Error {}

addEventListener('eip6963:announceProvider', ({ detail }) => {
  const { info, provider } = detail ?? {}
  if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function') return
  if (wallets.has(info.uuid)) return
  wallets.set(info.uuid, { name: String(info.name).slice(0, 40), icon: info.icon, provider })
  show()
})
pay?.addEventListener('shown', show)
dispatchEvent(new Event('eip6963:requestProvider'))

/** Offers each wallet in the panel, which is a new one after each choice. */
function show() {
  const place = pay?.querySelector('.wallets')
  if (!place || place === busy || wallets.size === 0) return
  const said = place.querySelector('.wallet-said') ?? element('p', 'wallet-said')
  said.setAttribute('role', 'status')
  place.hidden = false
  place.replaceChildren(...[...wallets.values()].flatMap((wallet) => buttonsOf(wallet, place)), said)
}

function buttonsOf(wallet, place) {
  const send = walletButton(wallet, `Pay with ${wallet.name}`)
  send.addEventListener('click', () => run(place, () => sendTransfer(wallet, place)))
  if (!('gasless' in place.dataset)) return [send]
  const sign = walletButton(wallet, `Sign with ${wallet.name}, without network fee`)
  sign.addEventListener('click', () => run(place, () => signTransfer(wallet, place)))
  send.classList.add('plain')
  return [sign, send]
}

function walletButton({ icon }, label) {
  const button = element('button', 'button wallet')
  button.type = 'button'
  // An image cannot run anything, and one from elsewhere would tell who looks at this page.
  if (typeof icon === 'string' && icon.startsWith('data:image/')) {
    const image = element('img', '')
    image.src = icon
    image.alt = ''
    button.append(image)
  }
  button.append(label)
  return button
}

function element(name, className) {
  const made = document.createElement(name)
  made.className = className
  return made
}

/** One payment at a time; what came of it is said below the buttons. */
async function run(place, work) {
  const buttons = [...place.querySelectorAll('button')]
  const tell = (text) => {
    const said = place.querySelector('.wallet-said')
    if (said) said.textContent = text
  }
  busy = place
  for (const button of buttons) button.disabled = true
  tell('Please look at your wallet.')
  let isOver = false
  try {
    tell(await work())
    isOver = true
  } catch (error) {
    tell(wordsFor(error))
    busy = undefined
  }
  for (const button of buttons) button.disabled = isOver
}

function wordsFor(error) {
  if (error instanceof Refusal) return error.message
  if (codeOf(error) === DECLINED) return 'Declined in the wallet. Nothing was sent.'
  if (codeOf(error) === BUSY) return 'The wallet waits for an answer to an earlier question. Please open it.'
  return `The wallet says: ${String(error?.message ?? error).slice(0, 200)}`
}

/** Some wallets wrap the code of what went wrong. */
const codeOf = (error) => error?.data?.originalError?.code ?? error?.code

/** @returns the account that pays, on the network of the payment, and what is to be paid */
async function prepare({ provider }, place) {
  const { network, token } = place.closest('.panel').dataset
  const answer = await fetch(`${place.dataset.wallet}?${new URLSearchParams({ network, token })}`, {
    cache: 'no-store',
  }).catch(() => undefined)
  if (!answer?.ok) throw new Refusal('Nothing can be paid this way now. Please load the page again.')
  const request = await answer.json()
  const [from] = await provider.request({ method: 'eth_requestAccounts' })
  await goToChain(provider, request.chain)
  await checkFunds(provider, request, from)
  // The clock of the server, as that of the device may be wrong.
  return { request, from, now: Date.parse(answer.headers.get('date') ?? '') || Date.now() }
}

async function goToChain(provider, chain) {
  const isThere = async () =>
    Number(await provider.request({ method: 'eth_chainId' })) === Number(chain.chainId)
  const go = () =>
    provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain.chainId }] })
  if (await isThere()) return
  try {
    await go()
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN && !/unrecognized chain/i.test(error?.message)) throw error
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
    if (!(await isThere())) await go()
  }
  if (!(await isThere()))
    throw new Refusal(`The wallet is not on ${chain.chainName}. Please choose it there.`)
}

/** Nothing is asked of a wallet whose network is another of the same number, or that cannot pay. */
async function checkFunds(provider, { chain, transaction, token, amount }, from) {
  const code = await provider.request({ method: 'eth_getCode', params: [transaction.to, 'latest'] })
  if (code === '0x') {
    const rpc = chain.rpcUrls[0]
    throw new Refusal(
      `The wallet's ${chain.chainName} is another network: it has no such ${token}. The right one is at ${rpc}.`,
    )
  }
  const data = `0x70a08231${from.slice(2).toLowerCase().padStart(64, '0')}`
  const has = BigInt(
    await provider.request({ method: 'eth_call', params: [{ to: transaction.to, data }, 'latest'] }),
  )
  if (has >= BigInt(amount)) return
  throw new Refusal(
    `This account of the wallet has ${inUnits(has)} ${token} on ${chain.chainName}, and ${inUnits(BigInt(amount))} are to be paid.`,
  )
}

/** An amount of a token with six decimals, rounded down to cents. */
const inUnits = (atomic) => `${atomic / 1_000_000n}.${String((atomic / 10_000n) % 100n).padStart(2, '0')}`

async function sendTransfer(wallet, place) {
  const { request, from } = await prepare(wallet, place)
  const { chain, transaction } = request
  await wallet.provider.request({
    method: 'eth_sendTransaction',
    params: [{ from, ...transaction, value: '0x0', chainId: chain.chainId }],
  })
  return 'Sent. This page goes on by itself as soon as the network shows it.'
}

async function signTransfer(wallet, place) {
  signed ??= await signAuthorization(wallet, place)
  return handIn(place)
}

async function signAuthorization(wallet, place) {
  const { request, from, now } = await prepare(wallet, place)
  const terms = request.gasless
  if (!terms) throw new Refusal('This network takes no signatures now. Please send the transfer.')
  const random = crypto.getRandomValues(new Uint8Array(32))
  const authorization = {
    from,
    to: terms.payTo,
    value: terms.amount,
    validAfter: '0',
    validBefore: String(Math.floor(now / 1000) + terms.maxTimeoutSeconds),
    nonce: `0x${[...random].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  }
  const typed = {
    domain: {
      name: terms.extra.name,
      version: terms.extra.version,
      chainId: Number(request.chain.chainId),
      verifyingContract: terms.asset,
    },
    types: {
      EIP712Domain: fields('string name, string version, uint256 chainId, address verifyingContract'),
      TransferWithAuthorization: fields(
        'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
      ),
    },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  }
  const signature = await wallet.provider.request({
    method: 'eth_signTypedData_v4',
    params: [from, JSON.stringify(typed)],
  })
  return { x402Version: 2, accepted: terms, payload: { signature, authorization } }
}

const fields = (list) =>
  list.split(', ').map((field) => {
    const [type, name] = field.split(' ')
    return { name, type }
  })

/** Hands the signed payment in until it is answered for certain: it is settled once, however often it comes. */
async function handIn(place) {
  const headers = { 'payment-signature': btoa(JSON.stringify(signed)) }
  for (const wait of HAND_IN_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait))
    const answer = await fetch(place.dataset.x402, { method: 'POST', headers }).catch(() => undefined)
    const body = await answer?.json().catch(() => undefined)
    if (!body || (answer.status >= 500 && body.code !== 'capacity') || answer.status === 429) continue
    if (answer.ok) {
      signed = undefined
      return body.settlement.success
        ? 'Paid. This page goes on by itself.'
        : 'Sent. This page goes on by itself as soon as the network shows it.'
    }
    // Whatever may still come is not signed for again.
    if (body.code === 'payment_pending') throw new Refusal(`${body.message}. Please wait.`)
    signed = undefined
    throw new Refusal(`${body.message}.${answer.status === 409 ? '' : ' Nothing was taken.'}`)
  }
  throw new Refusal('The service does not answer. Please press the button again: the same signature is used.')
}
