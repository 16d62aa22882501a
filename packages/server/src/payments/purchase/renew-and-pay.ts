import { basePath, operations } from '@coinrack/contract/index.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { payWithinCall } from './pay-within-call.ts'

/** Renews a VPS and pays the invoice of the renewal, in one call. */
export const renewAndPay: PaidHandler<'renewService'> = (call) =>
  payWithinCall<'renewService'>(call, {
    url:
      call.services.config.publicUrl +
      basePath +
      operations.renewService.path.replace('{id}', call.input.service_id),
    description: `More time of VPS ${call.input.service_id}`,
    handler: call.services.ordering.renewService,
    show: async (db, services, { service_id, amount }) => ({
      ...(await services.ordering.renewedService(db, services, service_id!)),
      charged: amount,
    }),
  })
