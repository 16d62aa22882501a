import { readFile } from 'node:fs/promises'
import type { AddCommands } from '../add-command.ts'
import { all } from '../collect.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { table } from '../table.ts'

export const keys: AddCommands = (program, act) => {
  const group = program.command('key').description('SSH keys that the service keeps for orders')
  group
    .command('list')
    .description('list the stored SSH keys')
    .action(
      act(async (call) => {
        const found = await all((await call.client()).listSshKeys.all())
        call.show(found, () =>
          table(
            ['ID', 'NAME', 'TYPE', 'FINGERPRINT'],
            found.map(({ id, name, type, fingerprint }) => [id, name, type, fingerprint]),
          ),
        )
      }),
    )
  group
    .command('add')
    .description('store the public key of a file')
    .argument('<file>', 'such as ~/.ssh/id_ed25519.pub')
    .option('--name <name>', 'by default the comment of the key')
    .action(
      act(async (call, file: string, { name }: { name?: string }) => {
        const { ssh_key } = await (await call.client()).addSshKey({
          public_key: await readKey(file),
          ...(name !== undefined && { name }),
        })
        call.show(ssh_key, () => `${ssh_key.id}  ${ssh_key.name}  ${ssh_key.fingerprint}`)
      }),
    )
  group
    .command('delete')
    .description('delete a stored SSH key; machines keep theirs')
    .argument('<id>')
    .action(
      act(async (call, id: string) => {
        const { ssh_key } = await (await call.client()).deleteSshKey({ ssh_key_id: id })
        call.show(ssh_key, () => `Deleted ${ssh_key.name}`)
      }),
    )
}

/** A public key of a file. @throws RefusedError for a private one, which stays where it is */
export async function readKey(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new RefusedError(`Cannot read ${path}: ${error.message}`, exitCodes.usage)
  })
  if (text.includes('PRIVATE KEY'))
    throw new RefusedError(`${path} is a private key: name the file that ends in .pub`, exitCodes.usage)
  return text.trim()
}
