import { rateSettings } from './config-rates.ts'
import { type Setting, settings } from './config-settings.ts'

/** `docs/configuration.md`, from the declaration of the settings. */
export function configDocument(): string {
  return `# Configuration

<!-- Generated from packages/server/src/config/config-settings.ts and config-rates.ts by \`npm run generate\`. -->

Settings come from the environment and from one optional file of \`KEY=value\` lines; the environment wins.
The file is \`COINRACK_CONFIG\` when that is set, else \`coinrack.env\` in the data folder, else \`coinrack.env\` in the
folder that the service is started in. Paths in the file are relative to it. A wrong value stops the service with all
problems listed; an unknown \`COINRACK_\` name is reported in the log.

${table(Object.values(settings))}

## Rates

A rate is \`20/h\`, \`10/min\` or \`5/10min\`; the units are s, min, h and d. Who exceeds one gets status 429 and
\`Retry-After\`. A call that is refused with 403, 404, 409 or 422 and has changed nothing does not use up the limit of
what it asked for. \`COINRACK_RATE_DEFAULT\` counts every call that comes with a token, also the refused ones.

${table(Object.values(rateSettings))}
`
}

function table(declared: Setting[]): string {
  const rows = declared.map((setting) => `| \`${setting.name}\` | ${setting.doc} | ${defaultText(setting)} |`)
  return ['| setting | what it does | without it |', '|---|---|---|', ...rows].join('\n')
}

function defaultText(setting: Setting): string {
  if (setting.otherwise) return setting.otherwise
  return setting.default ? `\`${setting.default}\`` : 'none'
}
