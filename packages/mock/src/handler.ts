import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Input, Output } from '@coinrack/contract/operation.ts'
import type { Plan } from './plans.ts'
import type { Programs } from './programs.ts'
import type { Account, State } from './state.ts'

/** What a list answers: all of it, of which the page is taken. */
type Answer<N extends OperationName> =
  Output<Operations[N]> extends { items: infer T; nextCursor?: string } ? T : Output<Operations[N]>

export interface Call<N extends OperationName> {
  input: Input<Operations[N]>
  /** The account of the token; a public operation has none. */
  account: Account
  state: State
  plans: Plan[]
  programs: { command: Programs; code: Programs }
}

export type Handler<N extends OperationName> = (call: Call<N>) => Answer<N>
export type Handlers = { [N in OperationName]?: Handler<N> }

/** Lets time pass until it is so, or the wait is over. */
export function waitUntil(state: State, seconds: number, isSo: () => boolean): void {
  for (let waited = 0; waited < seconds && !isSo(); waited++) state.pass(1000)
}
