/*
 * Offers the wallets of this browser (EIP-6963) to log in with: each signs a message of the server (EIP-4361), and the page
 * goes on when the server has taken the signature. Without this module the page works, by codes from the mailbox.
 */

const place = document.querySelector('.wallets')
const said = place.querySelector('.wallet-said')
const wallets = new Set()
const DECLINED = 4001

addEventListener('eip6963:announceProvider', ({ detail }) => {
  const { info, provider } = detail ?? {}
  if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function') return
  if (wallets.has(info.uuid)) return
  wallets.add(info.uuid)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button plain'
  button.textContent = `Log in with ${String(info.name).slice(0, 40)}`
  button.addEventListener('click', () => run(button, provider))
  said.before(button)
  place.hidden = false
})
dispatchEvent(new Event('eip6963:requestProvider'))

async function run(button, provider) {
  button.disabled = true
  said.textContent = 'Please look at your wallet.'
  try {
    const [address] = await provider.request({ method: 'eth_requestAccounts' })
    const chain = Number(await provider.request({ method: 'eth_chainId' }))
    const { message } = await ask(place.dataset.challenge, { address, chain })
    const signature = await provider.request({
      method: 'personal_sign',
      params: [hexOf(message), address],
    })
    await ask(place.dataset.signature, { message, signature })
    location.reload()
  } catch (error) {
    said.textContent = error?.code === DECLINED ? 'Declined in the wallet.' : String(error?.message ?? error)
    button.disabled = false
  }
}

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`

async function ask(path, fields) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(fields),
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.message)
  return body
}
