import { InvalidArgumentError } from 'commander'

/** The number of an option or argument. @throws InvalidArgumentError */
export function number(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is no number.')
}
