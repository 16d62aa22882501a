import type { Vps } from '@coinrack/contract/vps.ts'
import type { z } from 'zod'
import { shownFeatures } from '../../hosts/features.ts'
import { cyclePrice } from '../billing/cycle-price.ts'
import type { VpsReadModel } from './read-model.ts'

const SSH_USER = 'root'

/** The VPS as its owner sees it. */
export function vpsView(row: VpsReadModel): z.output<typeof Vps> {
  return {
    id: row.id,
    order_id: row.order_id,
    status: row.status,
    ssh_ready: row.ssh_ready,
    failure_reason: row.failure_reason,
    hostname: row.hostname,
    ip: row.ssh_host,
    ipv6: row.ipv6,
    ssh_user: SSH_USER,
    ssh_port: row.ssh_port,
    ssh: {
      host: row.ssh_host,
      port: row.ssh_port,
      user: SSH_USER,
      command: `ssh -p ${row.ssh_port} ${SSH_USER}@${row.ssh_host}`,
      known_hosts: [
        knownHost(row.ssh_host, row.ssh_port),
        ...(row.ipv6 === null ? [] : [knownHost(row.ipv6, 22)]),
      ].map((host) => `${host} ${row.ssh_host_public_key}`),
    },
    rescue: row.rescue,
    password_available: row.password_available,
    product: row.product,
    os: { os_id: row.os_id, name: row.os_name },
    region: row.region,
    features: shownFeatures(row.features),
    billing: {
      cycle: row.cycle,
      price: cyclePrice(row),
      paid_until: row.paid_until,
      auto_renew: row.auto_renew,
      cancel_at_period_end: row.cancel_at_period_end,
      delete_at: row.status === 'suspended' ? row.delete_at : null,
    },
    created_at: row.created_at,
  }
}

/** How known_hosts names an address, see sshd(8). */
const knownHost = (host: string, port: number) => (port === 22 ? host : `[${host}]:${port}`)
