/*
 * Values that stand in the examples of the contract and of the documentation in place of the reader's own. They look like
 * real ones, so the service refuses them: an agent that copies an example is told so before it gives a machine, a mailbox or
 * money away.
 */

/** Names that belong to no one: RFC 2606, section 3. */
export const exampleDomains = ['example.com', 'example.net', 'example.org'] as const

export const exampleEmail = 'agent@example.com'
export const exampleFriend = 'friend@example.com'
export const exampleWebhook = 'https://agent.example.com/hooks'
export const examplePassword = 'a password of your own'
/** It is no wallet, since its key does not exist. */
export const exampleWallet = '0x1111111111111111111111111111111111111111'
/** It is no usable key, since its private half does not exist. */
export const exampleSshKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4wD3vVxHqD2rXw8nVf5l2m8u5v0s3c1m2o3p4q5r6s agent'
