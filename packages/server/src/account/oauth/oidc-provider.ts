/*
 * The library of the authorization server. When it is loaded it warns of a Node whose build does not name its line of long-term
 * support, as that of the registry does not. The version is pinned and tested here, so operators are spared that one line.
 */
const { warn } = console
console.warn = (...words) => {
  if (!String(words[0]).includes('Unsupported runtime')) warn(...words)
}
const library = await import('oidc-provider')
console.warn = warn

export const { Provider, errors } = library
