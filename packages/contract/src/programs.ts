import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { operation } from './operation.ts'
import { runErrors, SandboxId } from './sandboxes.ts'
import { Usd, UsdInput } from './wire.ts'

/** The longest program, in characters. */
export const PROGRAM_CHARACTERS = 200_000
/** The most of both outputs of a program that an answer shows together, in bytes. */
export const PRINTED_BYTES = 32_000
/** How long a program may run, in seconds. */
export const LONGEST_PROGRAM_S = 50

const Calls = z.object({
  operation: z.string().describe('As the method of coinrack'),
  calls: z.number().int(),
  failed: z.number().int(),
})

export const programs = {
  runProgram: operation({
    closedTo: ['program'],
    everyday: true,
    method: 'POST',
    path: '/programs',
    summary: 'Run a program that calls operations',
    description:
      'Runs TypeScript in a fresh sandbox, which reaches no network, and answers what it printed, so that many calls cost one. The global coinrack has a method for each operation: await coinrack.listPlans({}) takes the input of list_plans and returns its answer, a list as {items, next_cursor}. A refused call throws an error with code, message and fix. The sandbox is paid as a micro and destroyed at the end. Its calls may spend budget. It cannot change tokens or the account.',
    onMachine: true,
    access: 'sandbox',
    rate: 'sandboxes',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      code: z.string().min(1).max(PROGRAM_CHARACTERS).describe('TypeScript of a module, without enums'),
      budget: UsdInput.optional().describe('USD; default 0'),
      timeout: z.number().int().min(1).max(LONGEST_PROGRAM_S).default(LONGEST_PROGRAM_S).describe('Seconds'),
    }),
    output: z.object({
      stdout: z.string(),
      stderr: z.string(),
      left_out: z
        .object({ stdout: z.number().int(), stderr: z.number().int() })
        .describe('Bytes left out of the middle: both together show 32 kB'),
      exit_code: z.number().int().nullable().describe('1 when it threw; null when it was ended'),
      timed_out: z.boolean(),
      error: z
        .object({ name: z.string(), message: z.string(), line: z.number().int().nullable() })
        .nullable()
        .describe('What it threw, and the line of code'),
      operations: z.array(Calls),
      budget: Usd,
      spent: Usd.describe('By its calls, of budget'),
      run_cost: Usd.describe('Of its sandbox'),
      duration_ms: z.number().int(),
      sandbox_id: SandboxId,
      ...balanceFields,
    }),
    errors: runErrors,
    example: {
      code: 'const { items } = await coinrack.listPlans({})\nconsole.log(items.length, items[0]?.slug)',
    },
  }),
}
