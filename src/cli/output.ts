import type { Reporter, StepProgress } from '../maintenance/operation.ts'

/** How a subcommand was asked to answer. */
export type OutputOptions = { readonly json?: true }

/** Prints a result on stdout: one line of JSON for machines, the text for people. */
export function printResult({ json }: OutputOptions, result: object, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(result) : text}\n`)
}

/** Tells people on stderr what goes on: stdout belongs to results. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** What a list leaves out of account: the rest of it is right all the same. */
export const noteSkippedEvent = (stream: string, { message }: Error): void =>
  note(`${stream} is shown without an event that this release does not understand: ${message}`)

/** Rows under their headings, as wide as their widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return all.map((row) => line(row).trimEnd()).join('\n')
}

const WIDTH = 28
/** Milliseconds between two drawings on a terminal, and between two lines elsewhere. */
const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 5_000

/**
 * How far a long task is, on stderr: a bar on a terminal, a line now and then elsewhere. Its end leaves the last state standing.
 * @param total undefined where nobody knows it beforehand
 * @param unit what is counted, such as `stones`
 */
export function progressBar(label: string, total: number | undefined, unit: string): StepProgress {
  const { isTTY } = process.stderr
  const started = performance.now()
  let drawn = started
  let done = 0
  let first: number | undefined
  let share = total === 0 ? 1 : 0

  function draw(): void {
    const seconds = (performance.now() - started) / 1000
    const rate = seconds === 0 ? 0 : done / seconds
    const filled = Math.round(WIDTH * Math.min(1, share))
    const bar = isTTY ? ` [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]` : ''
    const of = total === undefined ? '' : ` of ${formatCount(total)}`
    const text = `${label}${bar} ${formatCount(done)}${of} ${unit}, ${formatCount(rate)}/s${left(seconds)}`
    process.stderr.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`)
    drawn = performance.now()
  }

  /** At the pace so far, of what was not there already when it began. */
  function left(seconds: number): string {
    const made = share - (first ?? 0)
    return share >= 1 || made <= 0 ? '' : `, ${formatCount(Math.ceil((seconds * (1 - share)) / made))} s left`
  }

  return {
    update(now, part = total === undefined || total === 0 ? 1 : now / total) {
      done = now
      share = part
      first ??= total === undefined ? part : 0
      if (performance.now() - drawn >= (isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) draw()
    },
    end() {
      draw()
      if (isTTY) process.stderr.write('\n')
    },
  }
}

/** A number as people read it: 53,940. */
export const formatCount = (value: number) => Math.round(value).toLocaleString('en')

/** What an operation reports, on stderr. */
export const report: Reporter = { startStep: progressBar, note }
