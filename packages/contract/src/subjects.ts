/** The subjects of operations, as lists and documentation group them. */
export const subjects = {
  Guide: 'Where to begin',
  Account: 'Register, log in, passwords, tokens with budgets',
  Catalog: 'Plans on sale, and reviews by customers',
  Balance: 'Prepaid money: invoices, payments, receipts, statement',
  VPS: 'Order and run virtual servers',
  Sandboxes: 'Run code in sandboxes that are paid by the second',
  Events: 'Everything that happened to the account, as a list, a stream or webhooks',
  Support: 'Ask the operator',
  Delegations: 'Let another account operate a VPS',
} as const

export type Subject = keyof typeof subjects

export const subjectNames = Object.keys(subjects) as [Subject, ...Subject[]]
