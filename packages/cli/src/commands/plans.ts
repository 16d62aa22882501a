import type { AddCommands } from '../add-command.ts'
import { all } from '../collect.ts'
import { table } from '../table.ts'

export const plans: AddCommands = (program, act) => {
  program
    .command('plans')
    .description('list plans, prices and systems')
    .action(
      act(async (call) => {
        const found = await all((await call.publicClient()).listPlans.all())
        call.show(found, () =>
          table(
            ['PLAN', 'VCPU', 'MEMORY', 'DISK', 'NETWORK', 'A MONTH', 'AN HOUR', 'SYSTEMS'],
            found.map((plan) => [
              plan.slug,
              plan.vcpus,
              `${plan.memory_mb} MB`,
              `${plan.disk_gb} GB`,
              plan.network,
              plan.price,
              plan.price_hourly,
              plan.available ? plan.os_images.map(systemName).join(', ') : 'no room now',
            ]),
          ),
        )
      }),
    )
}

/** As `--os` takes it, such as `debian-12`. */
export const systemName = ({ distribution, version }: { distribution: string; version: string }) =>
  `${distribution}-${version}`.toLowerCase().replaceAll(' ', '-')
