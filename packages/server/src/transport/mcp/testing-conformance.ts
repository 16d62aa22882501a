import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/*
 * The checks of the official conformance suite that fail here, by the reason why they cannot pass.
 */

/** The server declares tools, and one resource (the card of an approval): no prompts, completions, logs or subscriptions, and not the example's resources. */
const noSuchCapability = [
  'caching: sep-2549-prompts-list-caching-hints',
  'completion-complete: completion-complete',
  'input-required-result-non-tool-request: sep-2322-non-tool-incomplete',
  'logging-set-level: logging-set-level',
  'prompts-get-embedded-resource: prompts-get-embedded-resource',
  'prompts-get-simple: prompts-get-simple',
  'prompts-get-with-args: prompts-get-with-args',
  'prompts-get-with-image: prompts-get-with-image',
  'prompts-list: prompts-list',
  'resources-read-binary: resources-read-binary',
  'resources-read-text: resources-read-text',
  'resources-subscribe: resources-subscribe',
  'resources-templates-read: resources-templates-read',
  'resources-unsubscribe: resources-unsubscribe',
  'tools-call-with-logging: tools-call-with-logging',
]

/** The tools of the example server ask their client for input or a model. Those of Coinrack ask for nothing. */
const asksNothing = [
  'elicitation-sep1034-defaults: elicitation-sep1034-general',
  'elicitation-sep1330-enums: elicitation-sep1330-general',
  'input-required-result-basic-elicitation: sep-2322-elicitation-incomplete',
  'input-required-result-basic-list-roots: sep-2322-list-roots-incomplete',
  'input-required-result-basic-sampling: sep-2322-sampling-incomplete',
  'input-required-result-capability-check: sep-2322-respect-client-capabilities',
  'input-required-result-multi-round: sep-2322-multi-round-r1',
  'input-required-result-multiple-input-requests: sep-2322-multiple-inputs-incomplete',
  'input-required-result-request-state: sep-2322-request-state-incomplete',
  'input-required-result-result-type: sep-2322-result-type-included',
  'input-required-result-tampered-state: sep-2322-reject-tampered-state',
  'tasks-mrtr-composition: sep-2663-mrtr-synchronous-before-task-creation',
  'tasks-mrtr-input: sep-2663-tasks-get-status-input-required',
  'tasks-mrtr-input: tasks-mrtr-partial-fulfillment',
  'tasks-mrtr-input: tasks-mrtr-tasks-update-resumes',
  'tools-call-elicitation: tools-call-elicitation',
  'tools-call-sampling: tools-call-sampling',
]

/** The tools of the example server answer fixed pictures, sounds and schemas, or tell fixed progress; `cancel.test.ts` has progress as it is here. */
const noSuchTool = [
  'http-custom-header-server-validation: sep-2243-server-decode-base64',
  'http-custom-header-server-validation: sep-2243-server-no-xmcp-tool',
  'http-custom-header-server-validation: sep-2243-server-reject-invalid-param-chars',
  'http-custom-header-server-validation: sep-2243-server-reject-param-mismatch',
  'http-custom-header-server-validation: sep-2243-server-validate-param-match',
  'json-schema-2020-12: json-schema-2020-12-tool-found',
  'server-sse-polling: incoming-sse-event',
  'server-stateless: sep-2575-missing-capability-http-400',
  'server-stateless: sep-2575-server-rejects-undeclared-capability',
  'tools-call-audio: tools-call-audio',
  'tools-call-embedded-resource: tools-call-embedded-resource',
  'tools-call-image: tools-call-image',
  'tools-call-mixed-content: tools-call-mixed-content',
  'tools-call-with-progress: tools-call-with-progress',
]

/** The tools of the example server become tasks. `exampleTools` has those checks with a command of a sandbox in their place. */
const noSuchTask = [
  'tasks-capability-negotiation: tasks-per-request-meta-opt-in',
  'tasks-dispatch-and-envelope: sep-2663-durable-create-strong-consistency',
  'tasks-dispatch-and-envelope: tasks-server-directed-creation-no-hint',
  'tasks-lifecycle: sep-2663-cancel-ack-empty-result',
  'tasks-lifecycle: sep-2663-result-type-task-on-create',
  'tasks-lifecycle: sep-2663-tasks-get-status-completed',
  'tasks-lifecycle: sep-2663-tasks-get-status-failed',
  'tasks-lifecycle: sep-2663-tasks-get-status-working',
  'tasks-lifecycle: sep-2663-tool-error-uses-completed-status',
  'tasks-lifecycle: tasks-cancel-terminal-idempotent-ack',
  'tasks-request-headers: sep-2663-routing-headers-accepted-on-tasks-get',
  'tasks-request-headers: sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
  'tasks-request-headers: tasks-headers-tolerate-mcp-method-on-tools-call',
  'tasks-request-state-removal: tasks-request-state-removal-setup',
  'tasks-required-task-error: sep-2663-server-returns-missing-capability-when-required',
  'tasks-wire-fields: tasks-no-early-ttl-expiry',
  'tasks-wire-fields: tasks-no-related-task-meta-on-inlined-result',
  'tasks-wire-fields: tasks-wire-field-renames',
]

export const notApplicable = { noSuchCapability, asksNothing, noSuchTool, noSuchTask }

/** The checks of tasks that fail also where the suite's `slow_compute` is a command: they want further tools of its own. */
export const noSuchTaskByName = {
  /** No call here fails as a message, or does nothing but fail; none has to be a task. */
  failing: [
    'tasks-dispatch-and-envelope: tasks-server-directed-creation-no-hint',
    'tasks-lifecycle: sep-2663-tasks-get-status-failed',
    'tasks-lifecycle: sep-2663-tool-error-uses-completed-status',
    'tasks-required-task-error: sep-2663-server-returns-missing-capability-when-required',
  ],
  /** No tool answers "Hello". */
  greeting: ['tasks-request-headers: tasks-headers-tolerate-mcp-method-on-tools-call'],
  asksNothing: asksNothing.filter((check) => check.startsWith('tasks-')),
}

/**
 * An agent address at which the suite finds its own tool `slow_compute`: a command in a sandbox that takes so many seconds, and
 * some more, so that it becomes a task.
 */
export async function exampleTools(endpoint: string, token: string, sandbox: string) {
  const server = createServer(async (request, reply) => {
    const message = JSON.parse(await text(request))
    const { name, arguments: { seconds } = { seconds: 0 } } = message.params ?? {}
    const isTool = message.method === 'tools/call' && name === 'slow_compute'
    const command = `sleep ${seconds > 0 ? seconds + 3 : 0}; echo done`
    const params = { ...message.params, name: 'exec_command', arguments: { sandbox_id: sandbox, command } }
    const headers = Object.entries(request.headers).filter(
      ([header]) => /^(accept|content-type|mcp-)/.test(header) && !(isTool && header === 'mcp-name'),
    )
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: [
        ...(headers as [string, string][]),
        ...(isTool && request.headers['mcp-name'] ? [['mcp-name', 'exec_command'] as [string, string]] : []),
        ['authorization', `Bearer ${token}`],
      ],
      body: JSON.stringify(isTool ? { ...message, params } : message),
    })
    reply.writeHead(answer.status, [...answer.headers].flat())
    reply.end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => new Promise<unknown>((resolve) => server.close(resolve)),
  }
}
