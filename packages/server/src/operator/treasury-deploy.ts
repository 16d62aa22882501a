import { zeroHash } from 'viem'
import { deterministicDeployer, deterministicDeployment } from '../chain/deterministic-deployer.ts'
import { forwarderContracts, forwarderFactoryCode } from '../chain/forwarder-factory.ts'
import { demandProvenBackup } from './backup/proven-backup.ts'
import { type Command, RefusedError } from './command.ts'
import { agreedState } from './treasury/agreed-state.ts'
import { chainNamed } from './treasury/chain-named.ts'
import { transactionJson, writeSafeBatch } from './treasury/prepared-transactions.ts'

export const treasuryDeploy: Command = {
  name: 'treasury deploy',
  arguments: '<network> [--safe <file>]',
  summary:
    'Prepares the transaction that puts the forwarder factory on a chain, or says that it is there; sends nothing',
  takes: 1,
  options: { safe: { type: 'string' } },
  async run(operator, [network], { safe }) {
    await demandProvenBackup(operator)
    const settings = await chainNamed(operator, network!)
    const { chainId, treasury } = settings
    const state = agreedState(settings)
    const [factory, forwarder] = forwarderContracts(treasury)
    const there = await state.code(factory!.address)
    if (there === factory!.code && (await state.code(forwarder!.address)) === forwarder!.code)
      return {
        json: { network, factory: factory!.address, deployed: true, transactions: [] },
        text: `The forwarder factory of ${network} is at ${factory!.address}`,
      }
    if (there) throw new RefusedError(`At ${factory!.address} on ${network} is another contract`)
    if (!(await state.code(deterministicDeployer)))
      throw new RefusedError(`${network} lacks the deterministic deployer at ${deterministicDeployer}`)

    const does = `Deploy the forwarder factory of Coinrack for the treasury ${treasury}`
    const transaction = {
      chainId,
      ...deterministicDeployment(forwarderFactoryCode(treasury), zeroHash),
      does,
    }
    if (safe) await writeSafeBatch(safe, [transaction], does, operator.clock.now())
    return {
      json: {
        network,
        factory: factory!.address,
        deployed: false,
        transactions: [transactionJson(transaction)],
      },
      text: `Not deployed yet. Any wallet with coin for gas on ${network} (chain ${chainId}) can send this; it puts the factory at ${factory!.address}, with ${treasury} as the only place that money can go to from deposit addresses:

to:    ${transaction.to}
value: 0
data:  ${transaction.data}`,
    }
  },
}
