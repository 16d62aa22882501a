import type { Plan } from '@coinrack/contract/catalog.ts'
import type { Operations } from '@coinrack/contract/index.ts'
import type { Invoice } from '@coinrack/contract/invoices.ts'
import type { Input, Output } from '@coinrack/contract/operation.ts'
import type { Recurring, Running } from '@coinrack/money/index.ts'
import type { PaymentRequired } from '@x402/core/types'
import type { z } from 'zod'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Caller, Handler } from '../dispatch/handler.ts'
import type { ApprovalNeeded, AskedCall } from './approval-needed.ts'
import type { OperationError } from './errors.ts'
import type { OrderPreparation } from './host-facts.ts'
import type { Services } from './services.ts'

/*
 * The interfaces that slices offer each other. No slice imports another: `main.ts` hands these in.
 */

export type InvoiceView = z.output<typeof Invoice>
/** A plan as the catalog shows it: with whether there is room for one more. */
export type OfferedPlan = z.output<typeof Plan>

/** A wallet: of a key, which is the same on every chain, or of a contract on one chain. */
export interface Wallet {
  address: string
  /** Null: of a key. */
  chainId: number | null
}

/** Functions of the accounts slice, for payments by wallets that present no token. */
export interface WalletAccounts {
  /** The account of a wallet; undefined when it has none. */
  find(db: Queryable, wallet: Wallet): Promise<string | undefined>
  /** The account of a wallet, made when it has none: without an e-mail address, and with a balance of zero. */
  ensure(tx: Transaction, services: Services, wallet: Wallet): Promise<string>
  /**
   * Makes a token for a buyer who came with a payment. It has every right but those of a recent log-in: a payment is
   * none.
   */
  openSession(
    tx: Transaction,
    services: Services,
    accountId: string,
    client: string,
  ): Promise<{ caller: Caller; token: string }>
  /** Ends a token of such a session that the buyer never got. */
  endSession(tx: Transaction, services: Services, tokenId: string): Promise<void>
}

/** Functions of the approvals slice, for the dispatch of calls. */
export interface Approving {
  /**
   * Asks the owner of the account to approve a charge that was refused; the same call is asked for once.
   * @returns the refusal with where it can be approved; or why it cannot be asked for
   */
  ask(services: Services, caller: Caller, refusal: ApprovalNeeded): Promise<OperationError>
}

/** Functions of the accounts slice, for machines. */
export interface SshKeys {
  /** A stored key as a line of authorized_keys; undefined when the account has none of this id. */
  lineOf(db: Queryable, accountId: string, id: string): Promise<string | undefined>
}

/** Functions of the accounts slice, for programs that run in sandboxes. */
export interface ProgramTokens {
  /**
   * Makes the token of one run of a program, below the caller's and with its scopes.
   * @param run `budget`, in micro-USD, is all that it may spend
   * @throws OperationError `budget_exceeded`, `unauthorized`
   */
  begin(
    tx: Transaction,
    services: Services,
    caller: Caller,
    run: { budget: bigint; expiresAt: Date },
  ): Promise<{ id: string; text: string }>
  /** Ends it. @returns what it has spent, in micro-USD */
  end(tx: Transaction, services: Services, run: { accountId: string; tokenId: string }): Promise<bigint>
  /** Ends those of all runs. */
  endAll(tx: Transaction, services: Services): Promise<void>
}

/** Functions of the payments slice, for orders. */
export interface Invoicing {
  /** Opens an unpaid invoice for an order that the balance did not cover. */
  openForOrder(
    tx: Transaction,
    services: Services,
    order: { accountId: string; orderId: string; amount: bigint; expiresAt: Date },
  ): Promise<InvoiceView>
  /** The unpaid invoice of so much more time of a service: the one there is, or another in the place of one for something else. */
  openForRenewal(
    tx: Transaction,
    services: Services,
    renewal: { accountId: string; serviceId: string; months: number; amount: bigint; expiresAt: Date },
  ): Promise<InvoiceView>
  /** Marks the unpaid invoice of so many months of a service paid, when they were paid from the balance. */
  markRenewed(tx: Transaction, services: Services, serviceId: string, months: number): Promise<void>
  /** Ends the unpaid renewal invoice of a service: there is nothing more to pay for. */
  cancelRenewal(tx: Transaction, services: Services, serviceId: string): Promise<void>
  view(db: Queryable, services: Services, invoiceId: string): Promise<InvoiceView>
  /**
   * The terms to sign to pay an invoice by x402 within the call that was refused, as its 402 says it; nothing where no
   * network takes signatures now, or nothing is left to pay.
   * @param sold what the call is for: its address, and what that is
   */
  termsWithinCall(
    db: Queryable,
    services: Services,
    invoiceId: string,
    sold: { url: string; description: string; error: string },
  ): Promise<Partial<PaymentRequired>>
  /** Marks an order's invoice paid, when the order was paid from the balance. */
  markPaid(tx: Transaction, services: Services, invoiceId: string): Promise<void>
}

/** The token whose call pays from the balance, and the call, which a person may have to approve. */
export interface Payer {
  tokenId: string
  asked: AskedCall
}

/** How an invoice is paid: by the call of a payer, or by money that arrived. */
export interface PaidBy {
  invoiceId: string
  payer?: Payer | undefined
}

/** Functions of orders, for payments, the catalog and the account's overview. */
export interface Ordering {
  orderVps: Handler<'orderVps'>
  /**
   * The price of a VPS's first period, in micro-USD, for a caller without an account: `months`, or `hours` if hourly.
   * Nothing is written.
   * @throws OperationError for an order that could not be placed now
   */
  priceOfOrder(services: Services, db: Queryable, input: Input<Operations['buyVps']>): Promise<bigint>
  /** An order that was placed, as `orderVps` answers it. */
  placedOrder(db: Queryable, services: Services, orderId: string): Promise<Output<Operations['orderVps']>>
  /**
   * Makes the password of the machine of an order, which takes a moment: outside of any transaction.
   * @param begins false when it is only asked whether there is room
   */
  prepareOrder(services: Services, { begins }: { begins: boolean }): Promise<OrderPreparation>
  /**
   * Pays an order that awaits payment from the balance, and begins to provision it.
   * @param by whose budget it counts for: the payer's, or that of the token that ordered
   * @returns `closed` when the order awaits nothing
   * @throws InsufficientFunds
   * @throws OperationError `budget_exceeded`, `approval_needed`; `capacity` when no machine can be placed now, and nothing was charged
   */
  payFromBalance(
    tx: Transaction,
    services: Services,
    prepared: OrderPreparation,
    orderId: string,
    by: PaidBy,
  ): Promise<'paid' | 'closed'>
  /**
   * Makes sure that the machine of an order that awaits payment could be placed now.
   * @throws OperationError `capacity`
   */
  checkRoom(db: Queryable, services: Services, orderId: string): Promise<void>
  renewService: Handler<'renewService'>
  /** A service that was renewed, as `renewService` answers it. */
  renewedService(
    db: Queryable,
    services: Services,
    serviceId: string,
  ): Promise<Omit<Output<Operations['renewService']>, 'charged'>>
  /** Ends an order that awaits payment and cannot begin, and tells its account why; another one stays as it is. */
  failOrder(tx: Transaction, services: Services, orderId: string, reason: string): Promise<void>
  /** Ends an order that still awaits payment. The balance must be locked. */
  cancelUnpaid(tx: Transaction, orderId: string): Promise<void>
  /** Locks the service, before the balance that its renewal is paid from. */
  lockService(tx: Transaction, serviceId: string): Promise<void>
  /**
   * Renews a service from the balance. Both must be locked, the service first.
   * @param by whose budget it counts for: the payer's, or that of the token that ordered
   * @returns `closed` when there is nothing to renew any more
   * @throws InsufficientFunds
   * @throws OperationError `budget_exceeded`, `approval_needed`, `renewal_limit`
   */
  renewFromBalance(
    tx: Transaction,
    services: Services,
    renewal: { serviceId: string; months: number },
    by: PaidBy,
  ): Promise<'paid' | 'closed'>
  /**
   * How many services of an account are live, the newest that is being made, and what will be charged for those that renew
   * themselves.
   */
  summary(
    db: Queryable,
    services: Services,
    accountId: string,
  ): Promise<{ live: number; making: string | undefined; charges: Recurring[] }>
  /** For each account that is charged for something by then: all that will be charged for what renews itself. */
  chargesOfThoseDue(db: Queryable, services: Services, until: Date): Promise<Map<string, Recurring[]>>
  /** Whether a service was ever delivered to the account and charged. */
  hasPaid(db: Queryable, accountId: string): Promise<boolean>
}

/** Functions of sandboxes, for the balance and the account's overview. */
export interface Sandboxing {
  createSandbox: Handler<'createSandbox'>
  /**
   * The price of a sandbox for its whole timeout, in micro-USD, for a caller without an account. Nothing is written.
   * @throws OperationError for one that could not be started now
   */
  priceOfSandbox(services: Services, db: Queryable, input: Input<Operations['buySandbox']>): Promise<bigint>
  /** A sandbox that was started, as `createSandbox` answers it. */
  startedSandbox(
    db: Queryable,
    services: Services,
    sandboxId: string,
  ): Promise<Output<Operations['createSandbox']>>
  /** How many of an account are live, and what those that run cost. */
  summary(db: Queryable, accountId: string): Promise<{ live: number; running: Running[] }>
  /** All running sandboxes of each account that has any. */
  running(db: Queryable): Promise<Map<string, Running[]>>
}
