import { type Html, html } from '../html.ts'

export interface WholePageOptions {
  style: string
  scripts: string[]
  head?: Html
}

/** A whole page around its body. */
export const wholePage = (title: string, { style, scripts, head }: WholePageOptions, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${style}">
  ${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
  ${head}
</head>
<body>
  ${body}
</body>
</html>`.text
