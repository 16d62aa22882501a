import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { pino } from 'pino'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileMailer, smtpMailer } from './mailer.ts'

const mail = {
  to: 'ada@rackmail.net',
  subject: '123456 is your login code',
  text: 'Your login code is 123456\n',
}
const from = 'Coinrack <no-reply@coinrack.dev>'

describe('fileMailer', () => {
  const clock = { now: () => new Date('2026-01-31T12:00:00Z') }
  const random = { bytes: (length: number) => randomBytes(length) }
  let parent: string
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'mail-'))
  })
  afterAll(() => rm(parent, { recursive: true }))

  test('default: one file for each mail, for its owner alone, its path in the log', async () => {
    const logged: string[] = []
    const log = pino({}, { write: (line) => void logged.push(line) })
    const folder = join(parent, 'mail')
    const mailer = fileMailer(folder, from, { clock, random, log })
    await mailer.send(mail)
    await mailer.send(mail)
    const names = await readdir(folder)
    expect(names).toHaveLength(2)
    expect(names.every((name) => /^2026-01-31T12-00-00-000Z-[0-9a-f]{8}\.eml$/.test(name))).toBe(true)
    const path = join(folder, names[0]!)
    const text = await readFile(path, 'utf8')
    for (const header of [
      'To: ada@rackmail.net',
      `From: ${from}`,
      'Subject: 123456',
      'Date: Sat, 31 Jan 2026',
    ]) {
      expect(text).toContain(header)
    }
    expect(text).toContain('Your login code is 123456')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(logged.join()).toContain(path)
    expect(logged.join()).not.toContain('123456')
  })

  test('error: a folder that cannot be made', async () => {
    const file = join(parent, 'file')
    await writeFile(file, '')
    const mailer = fileMailer(file, from, { clock, random, log: pino({ level: 'silent' }) })
    await expect(mailer.send(mail)).rejects.toThrow()
  })
})

describe('smtpMailer', () => {
  let server: SMTPServer
  let url: string
  const received: { from: string; to: string[]; text: string }[] = []
  beforeAll(async () => {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) =>
        done(
          address.startsWith('nobody@')
            ? Object.assign(new Error('No such mailbox'), { responseCode: 550 })
            : null,
        ),
      async onData(stream, { envelope }, done) {
        const chunks: Buffer[] = []
        for await (const chunk of stream) chunks.push(chunk as Buffer)
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        })
        done()
      },
    })
    const port = await freePort()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
    url = `smtp://127.0.0.1:${port}`
  })
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))

  test('default: the mail is in the hands of the server when it resolves', async () => {
    await smtpMailer(url, from).send(mail)
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ from: 'no-reply@coinrack.dev', to: ['ada@rackmail.net'] })
    expect(received[0]!.text).toContain('Your login code is 123456')
  })

  test('behavior: an address cannot bring headers or other recipients', async () => {
    await smtpMailer(url, from).send({ ...mail, subject: 'Hello\r\nBcc: eve@rackmail.net' })
    expect(received.at(-1)!.to).toEqual(['ada@rackmail.net'])
    expect(received.at(-1)!.text).not.toMatch(/^Bcc:/m)
  })

  test('error: a mailbox that the server refuses', async () => {
    await expect(smtpMailer(url, from).send({ ...mail, to: 'nobody@rackmail.net' })).rejects.toThrow(
      /No such mailbox/,
    )
  })

  test('error: a server that is silent, from the start or after its greeting', async () => {
    for (const greeting of ['', '220 here\r\n']) {
      const silent = createServer((socket) => void socket.write(greeting))
      const port = await freePort()
      await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve))
      const limits = { connectionTimeout: 100, greetingTimeout: 100, socketTimeout: 100 }
      await expect(smtpMailer(`smtp://127.0.0.1:${port}`, from, limits).send(mail)).rejects.toThrow(
        /Greeting never received|Timeout/,
      )
      silent.close()
    }
  })

  test('error: no server', async () => {
    await expect(smtpMailer(`smtp://127.0.0.1:${await freePort()}`, from).send(mail)).rejects.toThrow()
  })
})
