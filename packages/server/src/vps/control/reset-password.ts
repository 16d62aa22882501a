import { announce } from '../../database/changes.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { checkConfirmation } from '../machine/check-confirmation.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { newRootPassword } from '../machine/root-password.ts'
import { rescueRefusal, stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { RECONCILE_VPS } from '../topics.ts'

/** Makes the password to be. The present one holds, and is shown, until the machine has taken the new one over. */
export const resetPassword: Handler<'resetPassword'> = preparedHandler(
  async ({ input, db, services }) => {
    const { next_root_password_hash: next } = await vpsById(db, input.service_id)
    return next === null ? newRootPassword(services.random) : undefined
  },
  async (call, password) => {
    const { input, caller, db, services, fail } = call
    const id = input.service_id
    const { sealer, clock } = services
    const row = await lockVps(db, id)
    if (input.confirm !== undefined)
      checkConfirmation(call, row, input.confirm, 'The root password would be another')
    if (!['active', 'stopped', 'rebooting'].includes(row.status)) {
      throw fail('service_busy', ...stateRefusal(row))
    }
    if (row.rescue) throw fail('service_busy', ...rescueRefusal(row))
    // No caller has seen a password that was on its way when this wish came: a second wish is the same wish.
    if (row.next_root_password_hash === null && password) {
      await updateMachine(db, id, {
        next_root_password: sealer.seal(password.plain, `root-password:${id}`),
        next_root_password_hash: password.hash,
        boot_password_hash: null,
        wished_at: clock.now(),
        wish_failure: null,
      })
    }
    const operation = await beginWork(db, services, caller.accountId, id, 'reset_password')
    await announce(db, RECONCILE_VPS)
    return { service: vpsView(await vpsById(db, id)), operation }
  },
)
