import type { Reporter, StepProgress } from '../maintenance/operation.ts'

export type OutputOptions = { readonly json?: true }

/** Prints a result on stdout: one line of JSON with `--json`, else the text. */
export function printResult({ json }: OutputOptions, result: object, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(result) : text}\n`)
}

/** Prints a message on stderr: stdout is reserved for results. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Reports an event that a list ignores because this release cannot decode it. */
export const noteSkippedEvent = (stream: string, { message }: Error): void =>
  note(`${stream}: ignored an event that this release cannot decode: ${message}`)

/** A text table; each column is as wide as its widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return all.map((row) => line(row).trimEnd()).join('\n')
}

const WIDTH = 28
/** Intervals between two redraws on a terminal, and between two lines elsewhere. */
const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 5_000

/**
 * Progress of a long task on stderr: a bar on a terminal, else a line every 5 s. `end()` prints the final state.
 * @param total undefined if not known in advance
 * @param unit plural noun, such as `stones`
 */
export function progressBar(label: string, total: number | undefined, unit: string): StepProgress {
  const { isTTY } = process.stderr
  const started = performance.now()
  let lastDrawnAt = started
  let doneCount = 0
  let initialShare: number | undefined
  let share = total === 0 ? 1 : 0

  function draw(): void {
    const seconds = (performance.now() - started) / 1000
    const rate = seconds === 0 ? 0 : doneCount / seconds
    const filled = Math.round(WIDTH * Math.min(1, share))
    const bar = isTTY ? ` [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]` : ''
    const totalText = total === undefined ? '' : ` of ${formatCount(total)}`
    const text = `${label}${bar} ${formatCount(doneCount)}${totalText} ${unit}, ${formatCount(rate)}/s${formatRemainingTime(seconds)}`
    process.stderr.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`)
    lastDrawnAt = performance.now()
  }

  /** Estimated at the rate so far, not counting the share that was done before the start. */
  function formatRemainingTime(seconds: number): string {
    const shareSinceStart = share - (initialShare ?? 0)
    return share >= 1 || shareSinceStart <= 0
      ? ''
      : `, ${formatCount(Math.ceil((seconds * (1 - share)) / shareSinceStart))} s left`
  }

  return {
    update(newCount, newShare = total === undefined || total === 0 ? 1 : newCount / total) {
      doneCount = newCount
      share = newShare
      initialShare ??= total === undefined ? newShare : 0
      if (performance.now() - lastDrawnAt >= (isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) draw()
    },
    end() {
      draw()
      if (isTTY) process.stderr.write('\n')
    },
  }
}

/** A rounded number with thousands separators, such as `53,940`. */
export const formatCount = (value: number) => Math.round(value).toLocaleString('en')

/** A number with its noun: `1 file`, `53,940 files`. */
export const formatQuantity = (value: number, noun: string) => `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`

/** Reports the progress of an operation on stderr. */
export const report: Reporter = { startStep: progressBar, note }
