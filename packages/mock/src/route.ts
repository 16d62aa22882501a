import { basePath, type OperationName, operationList, pathAtOrigin } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'

/** What a request asks for. */
export interface Asked {
  name: OperationName
  operation: Operation
  /** What the path names. */
  inPath: Record<string, string>
  /** The bytes of a file as they are, beside the operation that reads or writes it. */
  isContent: boolean
}

const routes = operationList.map(([name, operation]) => {
  const names: string[] = []
  const pattern = pathAtOrigin(operation).replace(/\{(\w+)\}/g, (_, field: string) => {
    names.push(field === 'id' && operation.resource ? resourceInput(operation.resource) : field)
    return '([^/]+)'
  })
  return { name, operation, names, pattern: new RegExp(`^${pattern}$`) }
})

/** @returns undefined for what is no operation */
export function route(method: string, path: string): Asked | undefined {
  const content = new RegExp(`^${basePath}/sandboxes/([^/]+)/files/content$`).exec(path)
  if (content) {
    const name = method === 'PUT' ? 'writeFile' : 'readFile'
    const { operation } = routes.find((each) => each.name === name)!
    return { name, operation, inPath: { sandbox_id: content[1]! }, isContent: true }
  }
  for (const { name, operation, names, pattern } of routes) {
    const match = operation.method === method && pattern.exec(path)
    if (!match) continue
    const inPath = Object.fromEntries(
      names.map((field, index) => [field, decodeURIComponent(match[index + 1]!)]),
    )
    return { name, operation, inPath, isContent: false }
  }
  return undefined
}
