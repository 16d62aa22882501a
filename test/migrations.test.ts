import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

/*
 * While replicas are replaced one after the other, the version before works on the schema of the new one. So a migration
 * adds; what it takes away, the version before has to have stopped using (docs/decisions/0293-rolling-upgrades.md).
 */

const folder = new URL('../packages/server/src/database/migrations/', import.meta.url)
/** The last one from before the rule. */
const LAST_WITHOUT_RULE = '0248'
/** The first line of a migration that takes away what nobody uses any more, and since which one that is so. */
const CONTRACT = /^-- Contract: unused since (\d{4})\b/

/** Changes that the previous version cannot live with, each with the words that make it. */
const BREAKS: [what: string, pattern: RegExp][] = [
  ['drops', /\bdrop (table|column|view|function|sequence|type)\b/],
  ['renames', /\brename (to|column|constraint)\b/],
  ['changes the type of a column', /\balter column \w+ (set data )?type\b/],
  ['demands a value', /\balter column \w+ set not null\b/],
  ['takes a default away', /\balter column \w+ drop default\b/],
  [
    'adds a column that has to be given',
    /\badd column (if not exists )?\w+ [^,;]*\bnot null\b(?![^,;]*\b(default|generated)\b)/,
  ],
]

const breaksOf = (sql: string): string[] => {
  const statements = sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').toLowerCase()
  return BREAKS.flatMap(([what, pattern]) => (pattern.test(statements) ? [what] : []))
}

test('a migration leaves the version before what it uses, or says since when nobody uses it', async () => {
  const names = (await readdir(folder)).filter(
    (name) => name.slice(0, 4) > LAST_WITHOUT_RULE && name.endsWith('.sql'),
  )
  expect(names.length).toBeGreaterThan(0)
  const wrong: string[] = []
  for (const name of names.sort()) {
    const sql = await readFile(new URL(name, folder), 'utf8')
    const since = CONTRACT.exec(sql)?.[1]
    if (since !== undefined && since < name.slice(0, 4)) continue
    for (const what of breaksOf(sql)) wrong.push(`${name} ${what}`)
  }
  expect(wrong).toEqual([])
})

test.each([
  ['drop table old;', ['drops']],
  ['alter table a\n  drop column b;', ['drops']],
  ['alter table a rename column b to c;', ['renames']],
  ['alter table a alter column b type bigint;', ['changes the type of a column']],
  ['alter table a alter column b set not null;', ['demands a value']],
  ['alter table a add column b text not null;', ['adds a column that has to be given']],
  ["alter table a add column b text not null default '', add column c integer;", []],
  ['alter table a alter column b drop not null; -- drop table a', []],
  ['create table a (b text not null);', []],
])('%s', (sql, breaks) => {
  expect(breaksOf(sql)).toEqual(breaks)
})
