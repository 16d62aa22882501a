/*
 * Keeps the checkout page as the server would write it now: the server sends the parts that changed, and how to pay is
 * fetched again when the amount or the choice changes. Without this module the page works, and reloads.
 */

const main = document.querySelector('main')
const pay = document.querySelector('[data-pay]')
const said = document.querySelector('#said')
const { path } = main.dataset
document.documentElement.classList.add('js')

/** For those who do not see the page. */
function say(text) {
  said.textContent = text
}

function writeTimes() {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  for (const time of document.querySelectorAll('time')) {
    time.textContent = format.format(new Date(time.dateTime))
  }
}

/** The live parts as the server wrote them, before anything here touched them. */
const shown = new Map(
  [...document.querySelectorAll('[data-live]')].map((part) => [part.dataset.live, part.innerHTML]),
)

/** Replaces what changed, and nothing else: a part that stays keeps its focus and its open details. */
function showChanges({ title, due, parts }) {
  document.title = title
  for (const [name, html] of Object.entries(parts)) {
    const fresh = document.createElement('template')
    fresh.innerHTML = html
    if (shown.get(name) === fresh.innerHTML) continue
    shown.set(name, fresh.innerHTML)
    document.querySelector(`[data-live="${name}"]`).replaceChildren(fresh.content)
  }
  writeTimes()
  if (due === main.dataset.due) return
  main.dataset.due = due
  if (due === '') pay.replaceChildren()
  else showPayment('whole')
}

/** The choice that the buttons show, and the kind of code. */
function chosen() {
  const value = (name) => pay.querySelector(`input[name="${name}"]:checked`)?.value
  const code = pay.querySelector('.panel')?.dataset.code
  const asked = new URLSearchParams(location.search)
  return {
    network: value('network') ?? asked.get('network'),
    token: value('token') ?? asked.get('token'),
    code: code ?? asked.get('code'),
  }
}

const TRY_AGAIN_MS = 2000
let latest = 0

/** Fetches how to pay; an answer that another choice has overtaken is dropped. */
async function showPayment(much, changed = {}) {
  const wanted = { ...chosen(), ...changed }
  const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value))
  const number = ++latest
  for (;;) {
    const answer = await fetch(`${path}/panel?${query}`, { cache: 'no-store' }).catch(() => undefined)
    if (number !== latest) return
    if (answer?.ok) return replacePayment(much, await answer.text())
    if (answer?.status === 404) return
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
  }
}

function replacePayment(much, html) {
  const fresh = new DOMParser().parseFromString(html, 'text/html')
  const panel = pay.querySelector('.panel')
  const next = fresh.querySelector('.panel')
  // The buttons keep their focus where only the choice has changed.
  if (much === 'panel' && panel && next) panel.replaceWith(next)
  else pay.replaceChildren(...fresh.body.childNodes)
  pay.dispatchEvent(new Event('shown'))
}

/** Writes the choice into the address, so that a reload keeps it. */
function keepChoice({ network, token, code }) {
  const query = new URLSearchParams({ network, token, ...(code === 'transfer' ? { code } : {}) })
  history.replaceState(null, '', `?${query}`)
}

function choose(changed = {}) {
  const choice = { ...chosen(), ...changed }
  keepChoice(choice)
  showPayment('panel', changed)
}

const LISTEN_AGAIN_MS = 15_000
let events
let again

/**
 * The server ends the stream when nothing can change any more; until then the browser connects again by itself, and is
 * sent all parts first.
 */
function listen() {
  events = new EventSource(`${path}/events?as=parts`)
  events.addEventListener('parts', ({ data }) => showChanges(JSON.parse(data)))
  events.addEventListener('end', stopListening)
  events.addEventListener('error', () => {
    // Refused, as when the page is open in too many places: the browser does not connect again.
    if (events.readyState !== EventSource.CLOSED) return
    askOnce()
    again = setTimeout(listen, LISTEN_AGAIN_MS)
  })
}

async function askOnce() {
  const answer = await fetch(`${path}/parts`, { cache: 'no-store' }).catch(() => undefined)
  if (answer?.ok) showChanges(await answer.json())
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
  const link = event.target.closest('[data-show-code]')
  if (link) {
    event.preventDefault()
    choose({ code: link.dataset.showCode })
  }
})
document.addEventListener('change', (event) => {
  if (event.target.matches('.choices input')) choose()
})
document.addEventListener('submit', (event) => {
  if (!event.target.matches('.demo-pay')) return
  event.preventDefault()
  payFromFaucet(event.target)
})
addEventListener('pagehide', stopListening)
addEventListener('pageshow', (event) => event.persisted && listen())
writeTimes()
listen()
