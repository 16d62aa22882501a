import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'

/*
 * `npm test` boots each template once: a test that has built one puts a copy on a shelf, and the next test with a data
 * folder of its own begins with what is there. Outside `npm test` there is no shelf, and each test builds its own.
 */

const KINDS = ['templates', 'sandbox-templates']
/** Disks of templates build on these. Links of one file. */
const BASES = 'base-images'

const shelf = () => process.env.COINRACK_TEST_TEMPLATES

/** Gives a data folder that is not in use yet what other tests have put on the shelf. */
export async function takeTemplates(dataFolder: string): Promise<void> {
  const from = shelf()
  if (from !== undefined) await copy(from, dataFolder)
}

/** Puts the templates of a data folder on the shelf. */
export async function shareTemplates(dataFolder: string): Promise<void> {
  const to = shelf()
  if (to !== undefined) await copy(dataFolder, to)
}

/** An existing template stays: one that is being copied by another test appears whole, or not at all. */
async function copy(from: string, to: string): Promise<void> {
  const script = `
    mkdir -p "$2"
    if [ -d "$1/${BASES}" ]; then
      mkdir -p "$2/${BASES}"
      cp --archive --no-clobber --link "$1/${BASES}/." "$2/${BASES}" || cp --archive --no-clobber "$1/${BASES}/." "$2/${BASES}"
    fi
    for kind in ${KINDS.join(' ')}; do
      for record in "$1/$kind"/*/template.json; do
        [ -e "$record" ] || continue
        folder=$(dirname "$record"); out="$2/$kind/$(basename "$folder")"
        case "$folder" in *.building | *.part.*) continue;; esac
        [ -e "$out" ] && continue
        mkdir -p "$2/$kind"; chmod 755 "$2/$kind"
        part="$out.part.$$"
        cp --archive --sparse=always "$folder" "$part"
        rm -f "$part/uses"
        mv --no-target-directory "$part" "$out" || rm -rf "$part"
      done
    done`
  if (existsSync(join(from))) await runCommand('sh', ['-ec', script, 'sh', from, to], { timeoutMs: 120_000 })
}
