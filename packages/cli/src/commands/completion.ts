import { Argument, type Command } from 'commander'
import type { AddCommands } from '../add-command.ts'
import { knownNames } from '../known-names.ts'

/*
 * The script of each shell hands the words of the line to `coinrack complete`, which answers a candidate a line: its text, a tab, and
 * what it is. A last line `:files` says that files fit as well.
 */

export const completion: AddCommands = (program, act) => {
  program
    .command('completion')
    .description('show the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', INSTALL)
    .action(
      act(async (call, shell: keyof typeof SCRIPTS) => {
        call.show({ shell, script: SCRIPTS[shell] }, () => SCRIPTS[shell])
      }),
    )
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .passThroughOptions()
    .action(
      act(async (call, words: string[]) => {
        const { candidates, takesFiles } = complete(program, words, knownNames(call.terminal.env))
        const lines = candidates.map(([text, what]) => `${text}\t${what}`)
        call.terminal.stdout.write([...lines, ...(takesFiles ? [':files'] : []), ''].join('\n'))
      }),
    )
}

const INSTALL = `
  bash  echo 'eval "$(coinrack completion bash)"' >> ~/.bashrc
  zsh   echo 'eval "$(coinrack completion zsh)"' >> ~/.zshrc, below compinit
  fish  coinrack completion fish > ~/.config/fish/completions/coinrack.fish`

const SCRIPTS = {
  bash: `_coinrack() {
  local IFS=$'\\n' line current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  for line in $(coinrack complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    if [[ $line == :files ]]; then COMPREPLY+=($(compgen -f -- "$current"))
    else COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done
}
complete -o filenames -F _coinrack coinrack
`,
  zsh: `#compdef coinrack
_coinrack() {
  local line
  local -a found
  for line in "\${(@f)$(coinrack complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then _files
    elif [[ -n $line ]]; then found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}"); fi
  done
  (( \${#found} )) && _describe coinrack found
}
compdef _coinrack coinrack
`,
  fish: `function __coinrack_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (coinrack complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c coinrack -f -a '(__coinrack_complete)'
`,
}

interface Completion {
  /** Text, and what it is. */
  candidates: [string, string][]
  takesFiles: boolean
}

/** The arguments that name a VPS. */
const NAMES = new Set(['name'])
/** The arguments and options that name a file. */
const FILES = /file|from|to\b/

/**
 * What the last of the words can become.
 * @param words after the name of the program, the last one as far as it is typed
 */
function complete(program: Command, words: string[], names: string[]): Completion {
  const current = words.at(-1) ?? ''
  let command = program
  let position = 0
  let option: Command['options'][number] | undefined
  for (const word of words.slice(0, -1)) {
    if (option) option = undefined
    else if (word.startsWith('-'))
      option = command.options.find(
        (one) => (one.long === word || one.short === word) && (one.required || one.optional),
      )
    else {
      const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (child) command = child
      else position++
    }
  }
  const fitting = ([text]: [string, string]) => text.startsWith(current)
  if (option) {
    const choices = (option.argChoices ?? []).map((choice): [string, string] => [choice, ''])
    return { candidates: choices.filter(fitting), takesFiles: FILES.test(option.flags) }
  }
  if (current.startsWith('-')) {
    const options = command.createHelp().visibleOptions(command)
    const flags = options.flatMap(({ long, description }): [string, string][] =>
      long ? [[long, description]] : [],
    )
    return { candidates: flags.filter(fitting), takesFiles: false }
  }
  const children = command.commands
    .filter((child) => !(child as Command & { _hidden: boolean })._hidden)
    .map((child): [string, string] => [child.name(), child.description()])
  const argument = command.registeredArguments[Math.min(position, command.registeredArguments.length - 1)]
  const values = (argument?.argChoices ?? []).map((choice): [string, string] => [choice, ''])
  const machines =
    argument && NAMES.has(argument.name()) ? names.map((name): [string, string] => [name, 'VPS']) : []
  return {
    candidates: [...children, ...values, ...machines].filter(fitting),
    takesFiles: argument !== undefined && FILES.test(argument.name()),
  }
}
