import type { CodeLanguage, CodeResult, TaskEnd } from '../ports/sandbox-channel.ts'

/**
 * Runs code after what ran in its context, and says on descriptor 3 what came of it: a line for each result as it is made,
 * and one at the end.
 */
const PYTHON = `
import ast, base64, contextlib, io, json, os, sys, traceback
before, code, quiet = json.loads(sys.argv[1])
scope = {"__name__": "__main__", "display": lambda *values: None}
for piece in before:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        exec(piece, scope)
def say(message):
    sys.stdout.flush()
    os.write(3, json.dumps(message).encode() + b"\\n")
def show(value, is_main):
    forms = {"text/plain": repr(value)}
    if hasattr(value, "_repr_png_"):
        forms["image/png"] = base64.b64encode(value._repr_png_()).decode()
    if hasattr(value, "_repr_html_"):
        forms["text/html"] = value._repr_html_()
    say({"result": {"data": forms, "isMain": is_main}})
scope["display"] = lambda *values: [show(value, False) for value in values]
report = {}
try:
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<code>", "exec"), scope)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<code>", "eval"), scope)
        if value is not None:
            show(value, True)
except Exception as error:
    report["error"] = {"name": type(error).__name__, "value": str(error), "traceback": traceback.format_exc()}
    quiet or sys.stderr.write(traceback.format_exc())
say(report)
sys.exit(1 if "error" in report else 0)
`

/** Code that awaits runs in a function of its own, whose declarations are not kept. */
const NODE = `
const vm = require('node:vm'), fs = require('node:fs'), util = require('node:util')
const [before, code, quiet] = JSON.parse(process.argv[1])
const scope = vm.createContext({ ...globalThis, require, process, Buffer, console: { log() {}, error() {} } })
for (const piece of before) try { vm.runInContext(piece, scope) } catch {}
scope.console = console
const report = {}
const say = (message) => fs.writeSync(3, JSON.stringify(message) + '\\n')
const run = async () => {
  try {
    const text = /\\bawait\\b/.test(code) ? '(async () => {' + code + '\\n})()' : code
    const value = await vm.runInContext(text, scope, { filename: '<code 1>' })
    if (value !== undefined)
      say({ result: { data: { 'text/plain': util.inspect(value) }, isMain: true } })
  } catch (error) {
    report.error = { name: error.name, value: error.message, traceback: error.stack }
    if (!quiet) console.error(error.stack)
    process.exitCode = 1
  }
  say(report)
  if (process.exitCode) process.exit()
}
run()
`

export function codeCommand(
  { language, code, quiet = false }: { language: CodeLanguage; code: string; quiet?: boolean },
  before: string[],
): string[] {
  const input = JSON.stringify([before, code, quiet])
  if (language === 'python') return ['python3', '-c', PYTHON, input]
  if (language === 'node') return [process.execPath, '-e', NODE, input]
  const silent = before.map((piece) => `eval ${quote(piece)} >/dev/null 2>&1`)
  return ['/bin/bash', '-c', [...silent, `eval ${quote(code)}`].join('\n')]
}

/** What code says in a line: a result, or how it ended. */
export const readReport = (line: string): { result?: CodeResult } & Pick<TaskEnd, 'error'> => JSON.parse(line)

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
