/*
 * What is run by a shell in the sandbox in which a template of E2B's clients is built.
 */

/** Gives the folder that it is in to the user `$1`, when that is empty. Without such a user the next command says so. */
export const giveFolder = 'test -n "$(ls -A .)" || ! id "$1" >/dev/null 2>&1 || chown "$1": .'

/** Repeats a command until it succeeds. */
export const untilSucceeds = (command: string) => `until (\n${command}\n); do sleep 0.25; done`
