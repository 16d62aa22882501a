import { chainOfNodes } from './chain-of-nodes.ts'
import type { ChainPort } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { rpcNode } from './rpc-node.ts'

/** A chain read through all the JSON-RPC endpoints of its settings. */
export const viemChain = (settings: ChainSettings): ChainPort =>
  chainOfNodes(
    settings,
    settings.rpcUrls.map((url) => rpcNode(settings, url)),
  )
