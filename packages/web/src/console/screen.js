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
document.getElementById('secure-attention').addEventListener('click', () => screen.sendCtrlAltDel())
