/** The variables that a program needs from its caller's environment; everything else (secrets above all) stays behind. */
const PASSED_ON = [
  'PATH',
  'LANG',
  'LC_ALL',
  'TZ',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
]

/** Folders of the caller that another user could not enter. */
const PASSED_TO_SAME_USER = ['HOME', 'USER', 'LOGNAME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR']

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Node's pipes are sockets, and a bash at level 1 whose standard input is one takes itself for a remote shell: it would run
 * the caller's `.bashrc`, whatever that does, at each start of a script such as `ldd`.
 */
const SHLVL = '1'

/**
 * The environment of a started program: a short list taken from the caller, then `extra`.
 * A program that runs as another user does not inherit the caller's home.
 */
export function programEnvironment(extra: Record<string, string> = {}, asOtherUser = false) {
  const names = asOtherUser ? PASSED_ON : [...PASSED_ON, ...PASSED_TO_SAME_USER]
  const passed = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  return { PATH: SYSTEM_PATH, SHLVL, ...Object.fromEntries(passed), ...extra } as Record<string, string>
}
