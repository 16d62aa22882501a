/** A step of a task: what is wanted, in words, and what the user has said about it. */
export interface Step {
  want: string
  /** By plain words. */
  said?: Record<string, unknown>
  /** It needs no token, or gets the first one: no program can do it. */
  before?: true
}

export interface Task {
  goal: string
  steps: Step[]
  /** Stands in the answer to the last step when the goal is reached. */
  shows: RegExp
}

const order: Step[] = [
  { want: 'list VPS plans and prices' },
  { want: 'order a VPS' },
  { want: 'show a VPS and its status', said: { wait: 'ssh_ready', timeout: 50 } },
]
const sandbox: Step = { want: 'start a sandbox' }
const change = (want: string, said?: Step['said']): Step[] => [
  ...order,
  { want, ...(said && { said }) },
  { want: 'show an operation on a VPS', said: { wait: 'done', timeout: 50 } },
]

/** From "be inside a VPS" to "deploy and snapshot". */
export const tasks: Task[] = [
  {
    goal: 'Be inside a VPS, beginning with nothing',
    steps: [
      { want: 'register an account', said: { email: 'scripted@rackmail.net' }, before: true },
      { want: 'top up the balance', said: { amount: 20 }, before: true },
      ...order,
      { want: 'run a command on a VPS', said: { command: 'echo inside' } },
    ],
    shows: /inside/,
  },
  { goal: 'Know the balance', steps: [{ want: 'show the balance' }], shows: /20\.00/ },
  { goal: 'Know the cheapest plans', steps: [{ want: 'list VPS plans and prices' }], shows: /nano/ },
  {
    goal: 'Calculate in Python',
    steps: [sandbox, { want: 'run code in a sandbox', said: { code: 'print(6 * 7)' } }],
    shows: /42/,
  },
  {
    goal: 'Run a command in a sandbox and end it',
    steps: [
      sandbox,
      { want: 'run a command in a sandbox', said: { command: 'echo done' } },
      { want: 'end a sandbox' },
    ],
    shows: /ended/,
  },
  {
    goal: 'Write a file in a sandbox and read it',
    steps: [
      sandbox,
      { want: 'write a file of a sandbox', said: { path: 'a.txt', content: 'kept' } },
      { want: 'read a file of a sandbox', said: { path: 'a.txt' } },
    ],
    shows: /kept/,
  },
  {
    goal: 'Show a web server of a sandbox to others',
    steps: [sandbox, { want: 'expose a port of a sandbox', said: { port: 8000 } }],
    shows: /8000/,
  },
  {
    goal: 'Keep the state of a sandbox',
    steps: [sandbox, { want: 'snapshot a sandbox' }, { want: 'list snapshots of sandboxes' }],
    shows: /"status":"ready"|status: ready/,
  },
  { goal: 'Pause a sandbox', steps: [sandbox, { want: 'pause a sandbox' }], shows: /paus/ },
  {
    goal: 'Open a port of a VPS',
    steps: [...order, { want: 'open a public port of a VPS', said: { port: 8080 } }],
    shows: /8080/,
  },
  {
    goal: 'Close a VPS for all but SSH',
    steps: [
      ...order,
      {
        want: 'set the firewall of a VPS',
        said: {
          default_in: 'deny',
          rules: [{ direction: 'in', action: 'allow', protocol: 'tcp', ports: ['22'] }],
        },
      },
    ],
    shows: /deny/,
  },
  {
    goal: 'Reboot a VPS',
    steps: change('start, stop or reboot a VPS', { action: 'reboot' }),
    shows: /succeeded/,
  },
  {
    goal: 'Name a VPS',
    steps: change('change the host name of a VPS', { hostname: 'web' }),
    shows: /succeeded/,
  },
  {
    goal: 'Let a VPS renew itself no more',
    steps: [...order, { want: 'turn automatic renewal of a VPS on or off', said: { enabled: false } }],
    shows: /"?auto_renew"?: ?false/,
  },
  {
    goal: 'Give a program a token that can spend 2 USD',
    steps: [
      {
        want: 'create a child token',
        said: { scopes: ['read', 'sandbox'], budget: { total: 2 } },
        before: true,
      },
    ],
    shows: /crk_/,
  },
  {
    goal: 'Hear of events by a webhook',
    steps: [{ want: 'create a webhook', said: { url: 'https://hooks.rackmail.net/' }, before: true }],
    shows: /whsec|secret/,
  },
  {
    goal: 'Ask the operator for help',
    steps: [{ want: 'open a ticket', said: { subject: 'Hello', body: 'Can you read this?' } }],
    shows: /Hello/,
  },
  {
    goal: 'See what was paid for what',
    steps: [...order, { want: 'list balance transactions' }],
    shows: /nano|VPS/,
  },
  {
    goal: 'Cancel a VPS at the end of its time',
    steps: [...order, { want: 'cancel a VPS' }],
    shows: /cancel/,
  },
  {
    goal: 'Deploy a page on a VPS and snapshot it',
    steps: [
      ...order,
      { want: 'write a file of a VPS', said: { path: '/root/index.html', content: '<h1>Hello</h1>' } },
      { want: 'run a command on a VPS', said: { command: 'echo deployed' } },
      { want: 'snapshot a VPS' },
      { want: 'list the snapshots of a VPS', said: { wait: 'settled', timeout: 50 } },
    ],
    shows: /ready/,
  },
]
