/** The errors that any operation may answer, so that no declaration repeats them. */
export const commonErrors = [
  'malformed_json',
  'invalid_input',
  'rate_limited',
  'internal',
  'overloaded',
  'unavailable',
  'storage_full',
] as const
export const accountErrors = [
  'unauthorized',
  'wrong_audience',
  'account_suspended',
  'closed_to_token',
  'scope_missing',
  'idempotency_running',
  'answer_not_kept',
  'idempotency_key_reused',
] as const
/** What a charge may answer that a person has to approve. */
export const approvalErrors = ['approval_needed', 'approval_limit'] as const
export const resourceErrors = ['not_found', 'not_owner'] as const

export type CommonError =
  | (typeof commonErrors)[number]
  | (typeof accountErrors)[number]
  | (typeof resourceErrors)[number]
