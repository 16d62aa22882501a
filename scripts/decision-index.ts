import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', 'docs', 'decisions')
const TITLE = /^# (\d+)\. (.+)$/
/** With the day on which it was taken, and the records that hold in the place of it or of a part of it. */
const STATUS = /^Status: (accepted|superseded), (\d{4}-\d\d-\d\d)(?:; (.+))?$/

/**
 * The table of contents of the decision records.
 * @throws Error that names a record without its number, title or status
 */
export async function decisionIndex(): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.+\.md$/.test(name)).sort()
  const rows = await Promise.all(
    names.map(async (name) => {
      const [title, blank, status] = (await readFile(join(folder, name), 'utf8')).split('\n')
      const [, number, text] = TITLE.exec(title!) ?? []
      const [, state, date, since] = STATUS.exec(status!) ?? []
      if (number !== String(Number(name.slice(0, 4))) || blank !== '' || state === undefined)
        throw new Error(
          `${name} has to begin with "# ${Number(name.slice(0, 4))}. Title" and "Status: accepted, date"`,
        )
      return `| ${number} | [${text}](${name}) | ${date} | ${state}${since ? `; ${since}` : ''} |`
    }),
  )
  return `# Decisions

What was decided, why, and what else was weighed. \`npm run generate\` makes this table of the records.

| | decision | taken | status |
|---|---|---|---|
${rows.join('\n')}
`
}
