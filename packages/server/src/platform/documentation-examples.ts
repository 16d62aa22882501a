import { exampleDomains, examplePassword, exampleSshKey, exampleWallet } from '@coinrack/contract/examples.ts'

/** Names of the documentation and of tests, which no one has: RFC 2606, sections 2 and 3. */
const isWithin = (host: string, name: string) => host === name || host.endsWith(`.${name}`)
export const isExampleHost = (host: string) =>
  [...exampleDomains, 'example'].some((name) => isWithin(host, name))

const sshKeyBody = exampleSshKey.split(' ')[1]
/** @param line of authorized_keys */
export const isExampleSshKey = (line: string) => line.split(/ +/)[1] === sshKeyBody

export const isExampleWallet = (address: string) => address.toLowerCase() === exampleWallet
export const isExamplePassword = (password: string) => password === examplePassword

/** The sentence about a value that was copied from an example. @param what it is, with its article */
export const copiedExample = (what: string, own: string) =>
  `This is ${what} of the documentation's example: send ${own}`
