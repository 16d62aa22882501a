import type { Command } from './command.ts'
import { showPlans } from './show-plans.ts'

export const planList: Command = {
  name: 'plan list',
  arguments: '',
  summary: 'The plans that are sold, from COINRACK_CATALOG or the catalog that comes with the service',
  takes: 0,
  run: async (operator) => showPlans(await operator.catalog()),
}
