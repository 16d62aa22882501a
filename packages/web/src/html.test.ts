import { expect, test } from 'vitest'
import { html } from './html.ts'

test('default: markup stays markup, values are escaped', () => {
  const name = `<b>"Ada" & 'Bob'</b>`
  expect(html`<p title="${name}">${html`<i>${1}</i>`}</p>`.text).toBe(
    '<p title="&lt;b&gt;&quot;Ada&quot; &amp; &#39;Bob&#39;&lt;/b&gt;"><i>1</i></p>',
  )
})

test('behavior: lists follow each other, and nothing comes of false, null and undefined', () => {
  const items = ['a', '<']
  expect(html`${items.map((item) => html`<li>${item}</li>`)}${false}${null}${undefined}`.text).toBe(
    '<li>a</li><li>&lt;</li>',
  )
})
