import { type Command, RefusedError } from './command.ts'
import { showPlans } from './show-plans.ts'

export const planCheck: Command = {
  name: 'plan check',
  arguments: '<file>',
  summary: 'Checks a catalog file before the service is started with it',
  takes: 1,
  async run(operator, [file]) {
    const catalog = await operator.catalog(file).catch((error: Error) => {
      throw new RefusedError(error.message)
    })
    const { json, text } = showPlans(catalog)
    return { json, text: `${file} holds. Plans in region ${catalog.region}:\n\n${text}` }
  },
}
