import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Message {
  role: string
  content: string | { text: string }[] | null
}

/** What is asked of the model, as it came. */
interface Asked {
  messages: Message[]
  tools?: { function: { name: string; parameters: { properties: Record<string, unknown> } } }[]
}

/**
 * An endpoint of chat completions on loopback whose model follows a script: it calls the tool with each piece of code in turn, and answers at the end
 * with what it makes of all that the tool said.
 */
export async function startScriptedModel(codes: string[], conclude: (said: string[]) => string) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const question: Asked = JSON.parse(Buffer.concat(parts).toString())
    asked.push(question)
    const said = question.messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content))
    const code = codes[said.length]
    const id = `answer-${asked.length}`
    const message =
      code === undefined
        ? { role: 'assistant', content: conclude(said) }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call-${asked.length}`,
                type: 'function',
                function: { name: question.tools![0]!.function.name, arguments: JSON.stringify({ code }) },
              },
            ],
          }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        ...{ id, object: 'chat.completion', created: 1, model: 'my-model' },
        choices: [{ index: 0, message, finish_reason: code === undefined ? 'stop' : 'tool_calls' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const textOf = (content: Message['content']) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('')
