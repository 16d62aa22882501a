const BARS = '▁▂▃▄▅▆▇█'

/**
 * Numbers as a line of bars, from zero up to the largest of them.
 * @param width the most bars: more values are put together by their mean
 */
export function sparkline(values: number[], width: number): string {
  const size = Math.max(1, Math.ceil(values.length / width))
  const means = Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size)
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const most = Math.max(...means, 0)
  return means
    .map(
      (value) => BARS[most === 0 ? 0 : Math.min(BARS.length - 1, Math.floor((value / most) * BARS.length))],
    )
    .join('')
}
