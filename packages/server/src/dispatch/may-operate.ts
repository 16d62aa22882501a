/**
 * SQL: whether an account was given the right to operate a service, and still has it.
 * @param of expressions of the service's identifier, the account's, and the moment
 */
export const mayOperate = (of: { service: string; account: string; now: string }) =>
  `exists (select from delegation where delegation.service_id = ${of.service} and delegate_id = ${of.account}
    and revoked_at is null and (delegation.expires_at is null or delegation.expires_at > ${of.now}))`
