import type { TextRun } from '../domain/certification/page-cells.ts'

/** Limits on pages and characters. The data is on the first page of a report. */
const MAX_PAGES = 4
const MAX_CHARACTERS = 100_000

type PdfPage = import('pdfjs-dist').PDFPageProxy
type Matrix = readonly number[]

/**
 * Extracts the text of a PDF's first pages, including form fields, with positions as displayed. Pages are rotated as in
 * a viewer. Text in another direction on a page becomes a separate page, rotated so that it is horizontal.
 * @returns the text runs of each page
 * @throws pdf.js's error for an encrypted or broken file
 */
export async function extractTextRuns(pdf: Uint8Array): Promise<readonly (readonly TextRun[])[]> {
  // The package's other build calls functions that Node 22 and 24 lack, such as Uint8Array's toHex.
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const options = { disableFontFace: true, useSystemFonts: false, enableXfa: false }
  const document = await getDocument({ data: pdf, verbosity: VerbosityLevel.ERRORS, ...options }).promise
  const pages: TextRun[][] = []
  let characters = 0
  for (let number = 1; number <= Math.min(MAX_PAGES, document.numPages) && characters < MAX_CHARACTERS; number++) {
    const page = await document.getPage(number)
    const runs = [...(await printedRuns(page)), ...(await formFieldRuns(page))]
    characters += runs.reduce((sum, { text }) => sum + text.length, 0)
    pages.push(...straightenRuns(runs))
    page.cleanup()
  }
  return pages
}

/** A run as displayed; `angle` is in radians clockwise from horizontal. */
type RotatedRun = TextRun & { readonly angle: number }

/** pdf.js omits text outside the page. */
async function printedRuns(page: PdfPage): Promise<readonly RotatedRun[]> {
  const { transform, scale } = viewOf(page)
  const { items } = await page.getTextContent()
  return items.flatMap((item): RotatedRun[] => {
    if (!('str' in item) || item.str.trim() === '') return []
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = product(transform, item.transform as Matrix)
    const size = Math.hypot(c, d)
    if (!(size > 0)) return []
    return [{ text: item.str, x, y, width: item.width * scale, size, angle: Math.atan2(b, a) }]
  })
}

async function formFieldRuns(page: PdfPage): Promise<readonly RotatedRun[]> {
  const { transform } = viewOf(page)
  const annotations = (await page.getAnnotations()) as readonly Annotation[]
  return annotations.flatMap(({ fieldType, fieldValue, rect, hidden }): RotatedRun[] => {
    const text = Array.isArray(fieldValue) ? fieldValue.join(' ') : fieldValue
    if (fieldType === 'Btn' || hidden === true || rect === undefined) return []
    if (typeof text !== 'string' || text.trim() === '') return []
    const corners = [transformPoint(transform, rect[0], rect[1]), transformPoint(transform, rect[2], rect[3])] as const
    const [left, right] = sorted(corners[0][0], corners[1][0])
    const [top, bottom] = sorted(corners[0][1], corners[1][1])
    const size = Math.min(bottom - top, MAX_FIELD_TEXT_SIZE)
    // The baseline of a line of this size in the middle of the field.
    const y = (top + bottom) / 2 + size * 0.3
    return [{ text: text.replaceAll(/\s+/g, ' '), x: left, y, width: right - left, size, angle: 0 }]
  })
}

type Annotation = {
  /** `Tx`: text, `Ch`: choice, `Btn`: checkbox or button. */
  readonly fieldType?: string
  readonly fieldValue?: unknown
  readonly rect?: readonly [number, number, number, number]
  readonly hidden?: boolean
}

/** In points. A field may be higher than its line of text. */
const MAX_FIELD_TEXT_SIZE = 12

function viewOf(page: PdfPage) {
  const transform = page.getViewport({ scale: 1 }).transform as Matrix
  return { transform, scale: Math.hypot(transform[0] ?? 1, transform[1] ?? 0) }
}

/** The matrix product that applies `second` and then `first`, in PDF's notation (ISO 32000-1, 8.3.4). */
function product(first: Matrix, second: Matrix): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = first
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = second
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

function transformPoint(
  [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix,
  x: number,
  y: number,
): readonly [number, number] {
  return [a * x + c * y + e, b * x + d * y + f]
}

const sorted = (one: number, other: number) => (one < other ? ([one, other] as const) : ([other, one] as const))

const QUARTER_TURN = Math.PI / 2
/** Radians by which a page may be skewed. Text with a larger angle is a watermark. */
const MAX_SKEW = 0.15

/** Groups the runs by their four main directions and rotates each group to horizontal. */
function straightenRuns(runs: readonly RotatedRun[]): readonly TextRun[][] {
  return [0, 1, 2, 3].flatMap((quarters) => {
    const skewOf = ({ angle }: RotatedRun) => angle - Math.round(angle / QUARTER_TURN) * QUARTER_TURN
    const aligned = runs.filter(
      (run) => (Math.round(run.angle / QUARTER_TURN) + 4) % 4 === quarters && Math.abs(skewOf(run)) < MAX_SKEW,
    )
    if (aligned.length === 0) return []
    const rotation = quarters * QUARTER_TURN + (aligned.map(skewOf).toSorted((a, b) => a - b)[aligned.length >> 1] ?? 0)
    const [cos, sin] = [Math.cos(rotation), Math.sin(rotation)]
    return [aligned.map((run) => ({ ...run, x: run.x * cos + run.y * sin, y: run.y * cos - run.x * sin }))]
  })
}
