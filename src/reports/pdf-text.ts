import { stubDrawing } from './stub-drawing.ts'

/** Pages and characters that are read: a report says what counts on its first. */
const PAGES = 4
const CHARACTERS = 100_000

/** A run of text, with its place on the page: points from the left and from the bottom. */
export type Run = { readonly text: string; readonly x: number; readonly y: number; readonly width: number }

/**
 * The text of a PDF's first pages, line by line as a person reads it.
 * @throws what pdf.js says of an encrypted or broken file
 */
export async function textOf(pdf: Uint8Array): Promise<string> {
  stubDrawing()
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const options = { isEvalSupported: false, disableFontFace: true, useSystemFonts: false, enableXfa: false }
  const document = await getDocument({ data: pdf, verbosity: VerbosityLevel.ERRORS, ...options }).promise
  let text = ''
  for (let number = 1; number <= Math.min(PAGES, document.numPages) && text.length < CHARACTERS; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const runs = items.flatMap((item) => ('str' in item ? [runOf(item)] : []))
    text += `${linesOf(runs).join('\n')}\n`
    page.cleanup()
  }
  return text.slice(0, CHARACTERS)
}

const runOf = ({ str, transform, width }: { str: string; transform: readonly unknown[]; width: number }): Run => ({
  text: str,
  x: Number(transform[4]),
  y: Number(transform[5]),
  width,
})

/** Runs at the same height are a line. */
const SAME_LINE = 2.5
/** Points between two runs that are a space to the eye. */
const SPACE = 1

function linesOf(runs: readonly Run[]): string[] {
  const lines: { y: number; runs: Run[] }[] = []
  for (const run of runs.filter(({ text }) => text.trim() !== '').sort((a, b) => b.y - a.y)) {
    const line = lines.at(-1)
    if (line !== undefined && line.y - run.y < SAME_LINE) line.runs.push(run)
    else lines.push({ y: run.y, runs: [run] })
  }
  return lines.map((line) => joined(line.runs.sort((a, b) => a.x - b.x)))
}

function joined(runs: readonly Run[]): string {
  let text = ''
  let end = Number.POSITIVE_INFINITY
  for (const run of runs) {
    text += (run.x - end > SPACE ? ' ' : '') + run.text
    end = run.x + run.width
  }
  return text
}
