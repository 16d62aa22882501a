/*
 * The serial console: a terminal whose bytes go over a websocket as they are.
 */

const place = document.getElementById('console')
const state = document.getElementById('state')

// The terminal makes style elements; the page's policy lets them in by the nonce.
const createElement = document.createElement.bind(document)
document.createElement = (name, options) => {
  const element = createElement(name, options)
  if (name === 'style') element.nonce = place.dataset.nonce
  return element
}

const { Terminal } = await import(place.dataset.terminal)
const { FitAddon } = await import(place.dataset.fit)

const terminal = new Terminal({ cursorBlink: true, scrollback: 5000, screenReaderMode: true })
const fit = new FitAddon()
terminal.loadAddon(fit)
terminal.open(place)
fit.fit()
addEventListener('resize', () => fit.fit())

const socket = new WebSocket(place.dataset.socket)
socket.binaryType = 'arraybuffer'
const encoder = new TextEncoder()
const send = (bytes) => {
  if (socket.readyState === WebSocket.OPEN) socket.send(bytes)
}

socket.addEventListener('open', () => {
  state.textContent = 'Connected. Press Enter to see the prompt.'
  terminal.focus()
})
socket.addEventListener('message', ({ data }) => terminal.write(new Uint8Array(data)))
socket.addEventListener('close', ({ reason }) => {
  state.textContent = `Closed. ${reason || 'The connection ended'}. Open another console for more.`
  terminal.options.disableStdin = true
})
terminal.onData((text) => send(encoder.encode(text)))
terminal.onBinary((text) => send(Uint8Array.from(text, (character) => character.charCodeAt(0))))
