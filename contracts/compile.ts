import { readFileSync } from 'node:fs'
import solc from 'solc'

const sources = [
  'Forwarder.sol',
  'ForwarderFactory.sol',
  'test-tokens/HostileToken.sol',
  'test-tokens/MintedToken.sol',
  'test-tokens/SignedToken.sol',
  'test-tokens/TestPYUSD.sol',
  'test-tokens/TestUSDC.sol',
  'test-tokens/TestUSDT.sol',
  'test-wallets/OwnedWallet.sol',
]

/**
 * Everything that decides the bytes. Shanghai is the newest instruction set that all supported chains had when the
 * factory's address was fixed; no metadata hash, so that comments and paths cannot move an address.
 */
const settings = {
  evmVersion: 'shanghai',
  optimizer: { enabled: true, runs: 1000 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
  outputSelection: {
    '*': {
      '*': [
        'abi',
        'evm.bytecode.object',
        'evm.deployedBytecode.object',
        'evm.deployedBytecode.immutableReferences',
      ],
    },
  },
}

type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, Compiled>>
}

type Compiled = {
  abi: unknown
  evm: {
    bytecode: { object: string }
    deployedBytecode: { object: string; immutableReferences: Record<string, { start: number }[]> }
  }
}

type Contract = {
  abi: unknown
  bytecode: string
  /** For contracts with one immutable: their code on a chain, and the bytes at which the immutable, a word, belongs. */
  deployed?: { bytecode: string; immutableAt: number[] }
}

/**
 * Compiles the contracts. The result is committed, so that no start needs a compiler.
 * @returns the text of `packages/server/src/chain/generated/contracts.ts`
 * @throws what the compiler complains of, warnings too
 */
export function compileContracts(): string {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      sources.map((path) => [path, { content: readFileSync(new URL(path, import.meta.url), 'utf8') }]),
    ),
    settings,
  }
  const output: Output = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))

  const contracts: Record<string, Contract> = {}
  for (const inFile of Object.values(output.contracts)) {
    for (const [name, { abi, evm }] of Object.entries(inFile)) {
      const { object, immutableReferences } = evm.deployedBytecode
      const [immutable, ...others] = Object.values(immutableReferences)
      if (!evm.bytecode.object) continue
      contracts[name] = {
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        ...(immutable &&
          !others.length && {
            deployed: { bytecode: `0x${object}`, immutableAt: immutable.map(({ start }) => start) },
          }),
      }
    }
  }
  return [
    '// Made from contracts/*.sol by `npm run generate`; do not edit.',
    `export const compiler = ${JSON.stringify({ solc: solc.version(), ...settings }, null, 2)} as const`,
    ...Object.entries(contracts).map(
      ([name, contract]) => `export const ${name} = ${JSON.stringify(contract, null, 2)} as const`,
    ),
    '',
  ].join('\n\n')
}
