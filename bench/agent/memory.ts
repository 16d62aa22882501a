/*
 * What the scripted agent keeps of answers, by rules that know no operation: each value by the name of its field, the id
 * of a thing by the name of the thing, and each id by its prefix. Of a list it keeps what stands first and is available.
 */

export type Memory = Record<string, unknown>

/** It runs in programs too, as the text that it is: so it uses nothing around it. */
export function keep(memory: Memory, answer: unknown, name = ''): void {
  if (Array.isArray(answer)) {
    keep(memory, answer.find((each) => each?.available !== false) ?? answer[0], name)
  } else if (typeof answer === 'object' && answer !== null) {
    for (const [field, value] of Object.entries(answer).reverse())
      keep(memory, value, field === 'id' ? `${name}.id` : field)
  } else if (answer !== undefined && answer !== null) {
    const prefix = name.endsWith('id') && /^([a-z]+)_?[0-9a-z]{20,}$/.exec(String(answer))?.[1]
    if (prefix) memory[prefix.slice(0, 3)] = answer
    memory[name.replace('.id', '_id')] = answer
  }
}

/**
 * Where the value of an input is kept: under the prefix of its identifiers or the field that its description names, if it
 * says so, else under its own name.
 */
export const placeOf = (field: string, description = ''): string =>
  /^Identifier: ([a-z]{3})/.exec(description)?.[1] ?? /^An? (\w+) from /.exec(description)?.[1] ?? field
