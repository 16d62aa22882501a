import { configDocument } from '@coinrack/server/config/config-document.ts'
import { openapi } from '@coinrack/server/transport/openapi.ts'
import { compileContracts } from '../contracts/compile.ts'
import { decisionIndex } from './decision-index.ts'
import { pythonFiles } from './python/files.ts'

/** Committed files that follow from declarations in the code: the path from the root, and how its text is made. */
export const generatedFiles: Record<string, () => string | Promise<string>> = {
  'docs/configuration.md': configDocument,
  'docs/decisions/README.md': decisionIndex,
  'openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'packages/server/src/chain/generated/contracts.ts': compileContracts,
  ...(await pythonFiles()),
}
