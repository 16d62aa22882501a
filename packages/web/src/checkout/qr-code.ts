import QRCode from 'qrcode'
import { type Html, html } from '../html.ts'

/** Modules of light around the code that readers need (ISO/IEC 18004). */
const QUIET_ZONE = 4

/** A text as a QR code, dark on whatever lies below it. */
export function qrCode(text: string, label: string): Html {
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' })
  const runs: string[] = []
  for (let y = 0; y < modules.size; y++) {
    for (let x = 0; x < modules.size; x++) {
      const start = x
      while (x < modules.size && modules.get(y, x)) x++
      if (x > start) runs.push(`M${start} ${y}h${x - start}v1H${start}z`)
    }
  }
  const size = modules.size + 2 * QUIET_ZONE
  const box = `${-QUIET_ZONE} ${-QUIET_ZONE} ${size} ${size}`
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="${box}" shape-rendering="crispEdges"><path d="${runs.join('')}"/></svg>`
}
