import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProxyProgram, startProgram } from '@coinrack/server/transport/testing-proxies.ts'

const folder = join(import.meta.dirname, '../../deploy/load-balancer')

/** The programs that operators are given a configuration for, each with what it needs around that. */
const balancers: Record<
  'nginx' | 'haproxy',
  { file: string; around(config: string, temporary: string): string }
> = {
  nginx: {
    file: 'nginx.conf',
    around: (config, temporary) => `
      worker_processes 1;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      pid ${temporary}/pid;
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${temporary}/${kind};`).join('\n')}
        ${config}
      }`,
  },
  haproxy: { file: 'haproxy.cfg', around: (config) => config },
}

/** Runs a load balancer with the configuration of `deploy/load-balancer`, in front of these replicas. */
export async function startLoadBalancer(
  name: keyof typeof balancers,
  origins: readonly [string, string],
): Promise<{ origin: string; stop(): Promise<void> }> {
  const { file, around } = balancers[name]
  const text = await readFile(join(folder, file), 'utf8')
  const [one, two] = origins.map((origin) => new URL(origin).host)
  const config: ProxyProgram['config'] = (port, _service, temporary) =>
    around(
      text
        .replace('10.0.0.5:8080', one!)
        .replace('10.0.0.6:8080', two!)
        .replace('127.0.0.1:8443', `127.0.0.1:${port}`),
      temporary,
    )
  const { port, stop } = await startProgram(name, config)
  return { origin: `http://127.0.0.1:${port}`, stop }
}
