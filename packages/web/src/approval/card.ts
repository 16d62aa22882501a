import { readFileSync } from 'node:fs'

const read = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), 'utf8')

/** The card of an approval as one document: it loads nothing, from nowhere. */
export const approvalCard = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Approval</title>
<style>${read('card.css')}</style>
</head>
<body>
<main><h1>An approval is read</h1></main>
<p class="said" role="status"></p>
<script type="module">${read('card.js')}</script>
</body>
</html>
`
