import type { ChainSettings } from '@coinrack/server/chain/chain-settings.ts'
import type { Page } from 'playwright-core'
import { createPublicClient, createWalletClient, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

interface Request {
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own
  params?: any[]
}

class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The way a person responds to the questions of a wallet. */
export interface WalletOptions {
  /** The networks that the wallet knows; it is on the first. */
  knows: ChainSettings[]
  /** Answers a question with an error, in the place of the wallet. */
  refuses?: (method: string) => { code: number; message: string } | undefined
  icon?: string
}

/**
 * A wallet in the pages of a browser, which announces itself as EIP-6963 says. It holds a real key, asks the node of the
 * network that it is on, and agrees to what it is asked.
 * @returns what it was asked, in order
 */
export async function injectWallet(
  page: Page,
  { knows, refuses, icon = 'data:image/svg+xml,<svg/>' }: WalletOptions,
) {
  const account = privateKeyToAccount(generatePrivateKey())
  const urls = new Map<number, string>(knows.map(({ chainId, rpcUrls }) => [chainId, rpcUrls[0]!]))
  let current = knows[0]!.chainId
  const asked: Request[] = []

  async function answer({ method, params = [] }: Request): Promise<unknown> {
    const transport = http(urls.get(current))
    const refusal = refuses?.(method)
    if (refusal) throw new RpcError(refusal.code, refusal.message)
    switch (method) {
      case 'eth_requestAccounts':
        return [account.address]
      case 'eth_chainId':
        return `0x${current.toString(16)}`
      case 'wallet_switchEthereumChain':
        if (!urls.has(Number(params[0].chainId))) throw new RpcError(4902, 'Unrecognized chain ID')
        current = Number(params[0].chainId)
        return null
      case 'wallet_addEthereumChain':
        urls.set(Number(params[0].chainId), params[0].rpcUrls[0])
        return null
      case 'eth_sendTransaction': {
        const { from, to, data, value, chainId } = params[0]
        if (from !== account.address) throw new RpcError(4100, 'Another account')
        if (Number(chainId) !== current) throw new RpcError(-32_602, 'Another chain')
        const wallet = createWalletClient({ account, transport })
        return wallet.sendTransaction({ to, data, value: BigInt(value), chain: null })
      }
      case 'eth_signTypedData_v4': {
        const { domain, types, primaryType, message } = JSON.parse(params[1])
        if (domain.chainId !== current) throw new RpcError(-32_602, 'Another chain')
        return account.signTypedData({ domain, types, primaryType, message })
      }
      case 'personal_sign':
        return account.signMessage({ message: { raw: params[0] } })
      case 'eth_getCode':
      case 'eth_call':
        return createPublicClient({ transport }).request({ method, params } as never)
    }
    throw new RpcError(4200, `Unknown method ${method}`)
  }

  await page.exposeFunction('askWallet', async (request: Request) => {
    asked.push(request)
    return answer(request).then(
      (result) => ({ result }),
      ({ code, message }) => ({ error: { code: code ?? -32_603, message } }),
    )
  })
  await page.addInitScript((shownIcon) => {
    const provider = {
      async request(request: unknown) {
        // biome-ignore lint/suspicious/noExplicitAny: made by the test
        const { result, error } = await (window as any).askWallet(request)
        if (error) throw Object.assign(new Error(error.message), { code: error.code })
        return result
      },
    }
    const info = {
      uuid: '350670db-19fa-4704-a166-e52e178b59d2',
      name: 'Test Wallet',
      icon: shownIcon,
      rdns: 'net.rackmail.wallet',
    }
    const announce = () =>
      dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
      )
    addEventListener('eip6963:requestProvider', announce)
    announce()
  }, icon)
  const sign = (message: string) => account.signMessage({ message })
  return {
    address: account.address as Hex,
    sign,
    asked: () => asked.map(({ method }) => method),
    requests: asked,
  }
}
