/** The words after the `--` that may stand before them. */
export const afterDashes = (words: string[]) => (words[0] === '--' ? words.slice(1) : words)

/** A command line of words for a shell: one word is a command line already, several are taken as they are. */
export const commandLine = (words: string[]) =>
  words.length === 1 ? words[0]! : words.map(shellWord).join(' ')

/** A word that a shell reads as it is. */
export const shellWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
