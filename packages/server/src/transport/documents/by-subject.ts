import { type OperationName, operationList } from '@coinrack/contract/index.ts'
import type { Operation } from '@coinrack/contract/operation.ts'
import { type Subject, subjects } from '@coinrack/contract/subjects.ts'

/** The operations under their subjects, both in the order of the contract. */
export const bySubject: readonly { subject: Subject; about: string; all: [OperationName, Operation][] }[] =
  Object.entries(subjects).map(([subject, about]) => ({
    subject: subject as Subject,
    about,
    all: operationList.filter(([, op]) => op.subject === subject),
  }))
