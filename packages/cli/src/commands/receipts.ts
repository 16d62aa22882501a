import type { AddCommands } from '../add-command.ts'
import { verifyReceiptFile } from '../receipt-verify.ts'

export const receipts: AddCommands = (program, act) => {
  const group = program.command('receipt').description('signed receipts')
  group
    .command('get')
    .description('get the signed receipt of a paid invoice, as a file that anyone can check')
    .argument('<invoice>')
    .action(
      act(async (call, id: string) => {
        const receipt = await (await call.client()).getReceipt({ invoice_id: id })
        call.show(receipt, () => JSON.stringify(receipt, null, 2))
      }),
    )
  group
    .command('verify')
    .description('check a receipt, the answer of "receipt get" as a file, without a network')
    .argument('<file>')
    .option('--key <key>', "the operator's public key, or a file with it or with its /.well-known/jwks.json")
    .action(
      act(async (call, file: string, { key }: { key?: string }) => {
        const { receipt, lines } = await verifyReceiptFile(file, key)
        call.show(receipt, () => lines)
      }),
    )
}
