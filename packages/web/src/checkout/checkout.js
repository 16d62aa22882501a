/*
 * Keeps the checkout page as the server would write it now: the server tells when something changed, the page is
 * fetched again, and its live parts take the place of the old ones. Without this module the page works, and reloads.
 */

const main = document.querySelector('main')
const said = document.querySelector('#said')
document.documentElement.classList.add('js')

/** For those who do not see the page. */
function say(text) {
  said.textContent = text
}

function chosen() {
  const value = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value
  return { network: value('network'), token: value('token') }
}

/** What is chosen stands in the address, so that a reload keeps it. */
function keepChoice() {
  const { network, token } = chosen()
  if (network && token) history.replaceState(null, '', `?network=${network}&token=${token}`)
}

function writeTimes() {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  for (const time of document.querySelectorAll('time')) {
    time.textContent = format.format(new Date(time.dateTime))
  }
}

/** Replaces what changed, and nothing else: a part that stays keeps its focus and its open details. */
async function refresh() {
  const answer = await fetch(location.href, { cache: 'no-store' })
  if (!answer.ok) throw new Error(`The page answered ${answer.status}`)
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-live]')) {
    const next = fresh.querySelector(`[data-live="${part.dataset.live}"]`)
    const html = next?.innerHTML ?? ''
    if (shown.get(part) === html) continue
    shown.set(part, html)
    part.replaceChildren(...(next?.childNodes ?? []))
  }
  document.title = fresh.title
  writeTimes()
}

/** The live parts as the server wrote them, before anything here touched them. */
const shown = new Map([...document.querySelectorAll('[data-live]')].map((part) => [part, part.innerHTML]))

const TRY_AGAIN_MS = 2000

/** What changed is told once, so a connection that breaks just then must not lose it. */
async function refreshSurely() {
  for (;;) {
    try {
      return await refresh()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
    }
  }
}

let queue = Promise.resolve()
/** One after the other, so that an older answer never replaces a newer one. */
function refreshInTurn() {
  queue = queue.then(refreshSurely)
}

const LISTEN_AGAIN_MS = 15_000
let events
let again

/** The server ends the stream when nothing can change any more; until then the browser connects again by itself. */
function listen() {
  events = new EventSource(main.dataset.events)
  events.addEventListener('view', refreshInTurn)
  events.addEventListener('end', stopListening)
  events.addEventListener('error', () => {
    // Refused, as when the page is open in too many places: the browser does not connect again.
    if (events.readyState !== EventSource.CLOSED) return
    refreshInTurn()
    again = setTimeout(listen, LISTEN_AGAIN_MS)
  })
}

function stopListening() {
  events.close()
  clearTimeout(again)
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy)
  button.textContent = 'Copied'
  say('Copied')
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

async function payFromFaucet(form) {
  const button = form.querySelector('button')
  button.disabled = true
  button.textContent = 'Sending…'
  const answer = await fetch(form.action, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(new FormData(form)),
  }).catch(() => undefined)
  if (answer?.ok) {
    button.textContent = 'Sent'
    say('The test payment was sent')
    return
  }
  button.disabled = false
  button.textContent = 'That failed: try again'
  say('The test payment could not be sent')
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]')
  if (button) copy(button).catch(() => say('Copying is not allowed here: please select the text'))
})
document.addEventListener('change', keepChoice)
document.addEventListener('submit', (event) => {
  if (!event.target.matches('.demo-pay')) return
  event.preventDefault()
  payFromFaucet(event.target)
})
addEventListener('pagehide', stopListening)
addEventListener('pageshow', (event) => event.persisted && listen())
writeTimes()
listen()
