/** Addresses one after the other, both ends included. */
export interface AddressRange {
  from: string
  to: string
}

/** `198.51.100.7` as a number. */
export const ipv4Number = (address: string) =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0)

export const ipv4Text = (number: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** How many addresses the range has. */
export const rangeSize = ({ from, to }: AddressRange) => ipv4Number(to) - ipv4Number(from) + 1

/** Every address of the ranges, in their order. */
export const addressesIn = (ranges: AddressRange[]): string[] =>
  ranges.flatMap((range) =>
    Array.from({ length: rangeSize(range) }, (_, index) => ipv4Text(ipv4Number(range.from) + index)),
  )
