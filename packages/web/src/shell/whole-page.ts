import { type Html, html } from '../html.ts'
import { shellStyle } from './assets.ts'

export interface WholePageOptions {
  /** The styles of this kind of page, beside those of all. */
  style?: string
  scripts?: string[]
  head?: Html
}

/** A whole page around its body. */
export const wholePage = (
  title: string,
  { style, scripts = [], head }: WholePageOptions,
  body: Html,
): string =>
  html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${shellStyle.path}">
  ${style !== undefined && html`<link rel="stylesheet" href="${style}">`}
  ${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
  ${head}
</head>
<body>
  ${body}
</body>
</html>`.text

/** The name of the service, above a page. */
export const brand = (demo: boolean): Html =>
  html`<div class="brand"><span class="mark" aria-hidden="true"></span>Coinrack${demo && html`<p class="demo-note"><strong>Demo.</strong> Test networks with test money: please send no real tokens.</p>`}</div>`

/** A page for a person with one card: proving who they are, consenting, approving. */
export const roomPage = (
  title: string,
  { demo, ...options }: WholePageOptions & { demo: boolean },
  card: Html,
): string =>
  wholePage(
    `${title} · Coinrack`,
    options,
    html`${brand(demo)}
  <main><section class="card room">
    ${card}
  </section></main>`,
  )
