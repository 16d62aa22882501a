import { operationList, operations, pathAtOrigin } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import type { Services } from '../../platform/services.ts'

/**
 * All that can be paid by a signature (x402), and with which tokens. Where no chain has a wallet for gas, that is nothing.
 * @param services of which the chains say what is taken now
 */
export function paidResources({ config: { publicUrl }, chains }: Services) {
  const taken = chains.flatMap(({ settings, gasWallet }) =>
    gasWallet ? [{ network: `eip155:${settings.chainId}`, tokens: settings.tokens, gasWallet }] : [],
  )
  const ways = { schemes: ['exact'], networks: taken.map(({ network }) => network) }
  const isOn = taken.length > 0
  return {
    x402Version: 2,
    resources: operationList
      .filter(([, op]) => isOn && op.x402)
      .map(([name, op]) => ({
        url: publicUrl + pathAtOrigin(op),
        method: op.method,
        tool: toolName(name),
        operationId: name,
        description: op.description,
        account: op.access !== 'public',
        ...ways,
      })),
    invoices: isOn
      ? {
          urlTemplate: `${publicUrl}/checkout/{secret}/x402`,
          method: 'POST',
          description: 'Pays any unpaid invoice; the secret is the last part of its checkout_url.',
          account: false,
          ...ways,
        }
      : null,
    assets: taken.flatMap(({ network, tokens, gasWallet }) =>
      tokens
        .filter(({ address }) => gasWallet.domains.has(address.toLowerCase()))
        .map(({ symbol, address, decimals }) => ({ network, symbol, asset: address, decimals })),
    ),
    login: publicUrl + pathAtOrigin(operations.requestWalletChallenge),
    openapi: `${publicUrl}/openapi.json`,
  }
}
