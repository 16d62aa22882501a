import { copiedExample, isExampleHost } from '../../platform/documentation-examples.ts'

/** Why a URL cannot be a webhook's; undefined when it can. Where it leads to is judged each time that it is used. */
export function refuseUrl(text: string, { httpAllowed }: { httpAllowed: boolean }): string | undefined {
  const url = URL.parse(text)
  if (!url) return 'It is no URL'
  if (url.protocol !== 'https:' && !(httpAllowed && url.protocol === 'http:')) return 'It has to be https'
  if (url.username || url.password) return 'It must not hold a name or a password'
  if (url.hash) return 'It must not hold a fragment'
  if (isExampleHost(url.hostname)) return copiedExample('the URL', 'one that reaches your receiver')
  return undefined
}
