import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'

/** A proxy that keeps its connections to the service for the requests of others. */
export interface ProxyProgram {
  command: string
  args: (file: string, folder: string) => string[]
  /** Takes requests on `port` of loopback, and hands them to `service` over as few connections as it can. */
  config: (port: number, service: number, folder: string) => string
}

/** Each as its guide says for WebSockets, and with connections to the service that are used again as early as possible. */
export const proxies: Record<'nginx' | 'caddy' | 'haproxy', ProxyProgram> = {
  nginx: {
    command: '/usr/sbin/nginx',
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;'],
    config: (port, service, folder) => `
      worker_processes 1;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      pid ${folder}/pid;
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')}
        map $http_upgrade $wanted { default upgrade; '' ''; }
        upstream service { server 127.0.0.1:${service}; keepalive 1; }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://service;
            proxy_http_version 1.1;
            proxy_set_header Host $host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $wanted;
          }
        }
      }`,
  },
  caddy: {
    command: '/usr/bin/caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    config: (port, service) => `{
        admin off
        auto_https off
      }
      http://127.0.0.1:${port} {
        bind 127.0.0.1
        reverse_proxy 127.0.0.1:${service} {
          transport http {
            keepalive_idle_conns_per_host 1
          }
        }
      }`,
  },
  haproxy: {
    command: '/usr/sbin/haproxy',
    args: (file) => ['-db', '-f', file],
    config: (port, service) => `
      global
        nbthread 1
      defaults
        mode http
        timeout connect 5s
        timeout client 30s
        timeout server 30s
        timeout tunnel 30s
        http-reuse always
      frontend all
        bind 127.0.0.1:${port}
        default_backend service
      backend service
        server one 127.0.0.1:${service}
`,
  },
}

/** Runs a proxy in front of the service. @returns its port, and what ends it */
export const startProxy = (name: keyof typeof proxies, service: number) =>
  startProgram(name, proxies[name].config, service)

/** Runs the program of a proxy with another configuration. @returns its port, and what ends it */
export async function startProgram(
  name: keyof typeof proxies,
  config: ProxyProgram['config'],
  service = 0,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { command, args } = proxies[name]
  const folder = await mkdtemp(join(tmpdir(), `coinrack-${name}-`))
  const port = await freePort()
  const file = join(folder, 'config')
  await writeFile(file, config(port, service, folder))
  const program = spawn(command, args(file, folder), {
    env: { HOME: folder, PATH: '/usr/bin' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  program.stderr.on('data', (text) => (said += text))
  const stop = async () => {
    const ended = program.exitCode === null && program.signalCode === null && once(program, 'exit')
    program.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await untilItListens(program, port)
  } catch (error) {
    await stop()
    throw new Error(`${name} does not listen: ${said}`, { cause: error })
  }
  return { port, stop }
}

async function untilItListens(program: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (program.exitCode !== null) throw new Error(`It ended with ${program.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const listens = await Promise.race([
      once(socket, 'connect').then(
        () => true,
        () => false,
      ),
      sleep(1_000, false),
    ])
    socket.destroy()
    if (listens) return
    await sleep(50)
  }
  throw new Error('It took too long')
}
