/*
 * The screen of a machine, by noVNC.
 */

const place = document.getElementById('console')
const state = document.getElementById('state')

const { default: RFB } = await import(place.dataset.screen)

const screen = new RFB(place, place.dataset.socket, { shared: true })
screen.scaleViewport = true
screen.background = '#10141a'

screen.addEventListener('connect', () => {
  state.textContent = 'Connected'
  screen.focus()
})
screen.addEventListener('disconnect', () => {
  state.textContent = 'Closed. Open another console for more.'
})
// Key symbols of X11. The second virtual terminal of a Linux guest asks for a login as soon as it is looked at.
const [CONTROL, ALT, F2] = [0xffe3, 0xffe9, 0xffbf]
document.getElementById('login').addEventListener('click', () => {
  screen.sendKey(CONTROL, 'ControlLeft', true)
  screen.sendKey(ALT, 'AltLeft', true)
  screen.sendKey(F2, 'F2')
  screen.sendKey(ALT, 'AltLeft', false)
  screen.sendKey(CONTROL, 'ControlLeft', false)
  screen.focus()
})
document.getElementById('secure-attention').addEventListener('click', () => screen.sendCtrlAltDel())
