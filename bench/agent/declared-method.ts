/** A method of `coinrack`, as a declaration says it. */
export interface DeclaredMethod {
  name: string
  inputs: { name: string; isNeeded: boolean; description: string }[]
}

/** The methods that a declaration has, with the fields that each takes. */
export function declaredMethods(declaration: string): DeclaredMethod[] {
  return [...declaration.matchAll(/^ {4}(\w+)\(input\??: (.*)$/gm)].map(([, name, rest]) => ({
    name: name!,
    inputs: fieldsOf(rest!),
  }))
}

/** The fields of the first object type of a text. */
function fieldsOf(text: string): DeclaredMethod['inputs'] {
  if (!text.startsWith('{ ')) return []
  const fields: string[] = []
  let depth = 0
  let field = ''
  for (const part of text.match(/\/\*\*.*?\*\/|"[^"]*"|[\s\S]/g)!) {
    if ('{[(<'.includes(part)) depth++
    if ('}])>'.includes(part)) depth--
    if ((part === ';' && depth === 1) || depth === 0) {
      fields.push(field)
      field = ''
      if (depth === 0) break
    } else if (depth > 1 || part !== '{') field += part
  }
  return fields.flatMap((each) => {
    const [, description, name, optional] = /^\s*(?:\/\*\* (.*?) \*\/ )?(\w+)(\??):/.exec(each) ?? []
    return name === undefined ? [] : [{ name, isNeeded: optional === '', description: description ?? '' }]
  })
}
