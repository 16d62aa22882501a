/** An event of a stream: its name, and its data as JSON. */
export interface StreamEvent {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the event
  data: any
}

/** Server-Sent Events, as the HTML standard writes them; comments are left out. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const field = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join('\n')
      const event = field('event')
      if (event !== '') yield { event, data: JSON.parse(field('data')) }
    }
  }
}
