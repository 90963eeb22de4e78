/** How far a long task is, on stderr: a bar on a terminal, a line now and then elsewhere. */
export type ProgressBar = {
  /** @param done of the total, from the start */
  update(done: number): void
  /** Leaves the last state standing. */
  end(): void
}

const WIDTH = 28
/** Milliseconds between two drawings on a terminal, and between two lines elsewhere. */
const REDRAW = 100
const LINE = 5_000

/** @param unit what is counted, such as `stones` */
export function progressBar(label: string, total: number, unit: string): ProgressBar {
  const { isTTY } = process.stderr
  const started = performance.now()
  let drawn = started
  let done = 0

  function draw(): void {
    const seconds = (performance.now() - started) / 1000
    const rate = seconds === 0 ? 0 : done / seconds
    const filled = total === 0 ? WIDTH : Math.round((WIDTH * Math.min(done, total)) / total)
    const bar = isTTY ? ` [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]` : ''
    const text = `${label}${bar} ${count(done)} of ${count(total)} ${unit}, ${count(rate)}/s`
    process.stderr.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`)
    drawn = performance.now()
  }

  return {
    update(now) {
      done = now
      if (performance.now() - drawn >= (isTTY ? REDRAW : LINE)) draw()
    },
    end() {
      draw()
      if (isTTY) process.stderr.write('\n')
    },
  }
}

/** A number as people read it: 53,940. */
export const count = (value: number) => Math.round(value).toLocaleString('en')
