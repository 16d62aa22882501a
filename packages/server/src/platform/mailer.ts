import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import nodemailer from 'nodemailer'
import type { Logger } from 'pino'
import type { Services } from './services.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

/** Hands mail over. Resolves when the mail is in good hands; throws when it is not. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}

/** How long a mail server may take, in milliseconds: to be connected to and greet, and in silence at any step after. */
export const SMTP_LIMITS = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 20_000 }
/** EHLO, STARTTLS, EHLO, three of AUTH, MAIL, RCPT, DATA, and the end of it. */
const SMTP_STEPS = 10

/** Handing over is over by then, however slow the server is at each step. */
export const LONGEST_SEND_MS =
  SMTP_LIMITS.connectionTimeout + SMTP_LIMITS.greetingTimeout + SMTP_STEPS * SMTP_LIMITS.socketTimeout

/** By SMTP, to the server of the URL. */
export function smtpMailer(url: string, from: string, limits = SMTP_LIMITS): Mailer {
  const transport = nodemailer.createTransport({ url, ...limits })
  return {
    async send(mail) {
      await transport.sendMail({ from, ...mail })
    },
  }
}

/** Without a mail server: one `.eml` file for each mail, its path in the log. */
export function fileMailer(
  folder: string,
  from: string,
  { clock, random, log }: Pick<Services, 'clock' | 'random'> & { log: Logger },
): Mailer {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ from, date: clock.now(), ...mail })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const stamp = clock.now().toISOString().replace(/[:.]/g, '-')
      const path = join(folder, `${stamp}-${Buffer.from(random.bytes(4)).toString('hex')}.eml`)
      await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 })
      await rename(`${path}.part`, path)
      log.info({ path }, 'No mail server is configured: the mail was written to a file')
    },
  }
}
