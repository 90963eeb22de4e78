import type { Laboratory } from './certification.ts'

/**
 * Report-check pages of the laboratories, to which the report number is appended; null if no page is known that needs only a
 * number.
 * GIA: the example of the Certification API. IGI, HRD, GCAL: the addresses to which several shops and public inventories
 * link (November 2026).
 * AGS closed at the end of 2022 (https://www.jckonline.com/editorial-article/ags-laboratories-merge-gia/); its former page
 * needed the weight too. IIDGR is now De Beers Institute of Diamonds; no public link by number was found.
 */
const REPORT_PAGES: Readonly<Record<Laboratory, string | null>> = {
  GIA: 'https://www.gia.edu/report-check?reportno=',
  AGS: null,
  HRD: 'https://my.hrdantwerp.com/?record_number=',
  IGI: 'https://www.igi.org/verify-your-report/?r=',
  IIDGR: null,
  GCAL: 'https://www.gcalusa.com/certificate-search.html?certificate_id=',
}

/** The URL of the report-check page for a number; null without a number or a known page. */
export function reportCheckUrl(laboratory: Laboratory, number: string | null): string | null {
  const page = REPORT_PAGES[laboratory]
  return page === null || number === null ? null : page + encodeURIComponent(number.toWellFormed())
}

/** A run of text. `x` and `y` are the start of its baseline in points, from the left and the top of the page as viewed. */
export type TextRun = {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
  /** Font size in points. */
  readonly size: number
}

/** Adjacent text on one line, separated from other cells by wide gaps or dot leaders. */
export type TextCell = {
  readonly text: string
  readonly left: number
  readonly right: number
  /** Of the baseline, in points from the top of the page. */
  readonly y: number
  /** Largest font size in points. */
  readonly size: number
}

/** Runs are on one line if their baselines differ by less than this fraction of the smaller font size. */
const SAME_LINE = 0.4
/** Fractions of the font size: a smaller gap separates no words; a wider one separates two cells. */
const MIN_WORD_GAP = 0.12
const WIDE_GAP = 1.5

/** The cells of a page, line by line from the top, each line from left to right. */
export const groupIntoCells = (runs: readonly TextRun[]): readonly TextCell[] =>
  groupIntoLines(runs).flatMap(cellsOfLine)

function groupIntoLines(runs: readonly TextRun[]): readonly (readonly TextRun[])[] {
  const lines: TextRun[][] = []
  for (const run of runs.filter(({ text }) => text.trim() !== '').toSorted((one, other) => one.y - other.y)) {
    const line = lines.at(-1)
    const [first] = line ?? []
    if (line !== undefined && first !== undefined && run.y - first.y < SAME_LINE * Math.min(run.size, first.size))
      line.push(run)
    else lines.push([run])
  }
  return lines.map((line) => line.toSorted((one, other) => one.x - other.x))
}

/** Letter-spaced text: PDFs contain it as one run with a space between every two letters. */
const LETTER_SPACED_TEXT = /^\S(?: \S)+$/

const DOT_LEADER = /(?:[.…·_]\s?){3,}|…/

function cellsOfLine(line: readonly TextRun[]): readonly TextCell[] {
  const y = line[0]?.y ?? 0
  const minWordGap = Math.max(MIN_WORD_GAP, letterGap(line) * 1.5)
  const cells: TextCell[] = []
  let openCell: TextCell | undefined
  let previousRun: TextRun | undefined
  const closeCell = () => openCell !== undefined && cells.push(...splitAtDotLeaders(openCell))
  for (const run of line) {
    // Bold text is often drawn twice with a small offset.
    if (previousRun !== undefined && run.text === previousRun.text && run.x - previousRun.x < run.width / 2) continue
    const text = LETTER_SPACED_TEXT.test(run.text.trim()) ? run.text.trim().replaceAll(' ', '') : run.text
    const gap = openCell === undefined ? Infinity : (run.x - openCell.right) / Math.max(run.size, openCell.size)
    if (openCell === undefined || gap > WIDE_GAP) {
      closeCell()
      openCell = { text, left: run.x, right: run.x + run.width, y, size: run.size }
    } else {
      openCell = {
        text: openCell.text + (gap < minWordGap ? '' : ' ') + text,
        left: openCell.left,
        right: Math.max(openCell.right, run.x + run.width),
        y,
        size: Math.max(openCell.size, run.size),
      }
    }
    previousRun = run
  }
  closeCell()
  return cells.filter(({ text }) => text !== '')
}

/** Minimum number of gaps between separately placed letters from which the letter spacing is estimated. */
const MIN_LETTER_GAPS = 4

/** The median gap between separately placed letters, as a fraction of their size; 0 if there are too few. */
function letterGap(line: readonly TextRun[]): number {
  const gaps = line.flatMap((run, index) => {
    const next = line[index + 1]
    if (next === undefined || run.text.trim().length !== 1 || next.text.trim().length !== 1) return []
    return [(next.x - run.x - run.width) / run.size]
  })
  const median = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0
  return gaps.length < MIN_LETTER_GAPS ? 0 : Math.max(0, median)
}

/** Splits a cell at dot leaders. The positions of the parts are approximate, which is sufficient. */
function splitAtDotLeaders(cell: TextCell): readonly TextCell[] {
  const texts = cell.text.split(DOT_LEADER).map((text) => text.trim())
  const width = (cell.right - cell.left) / texts.length
  return texts.map((text, index) => ({
    ...cell,
    text,
    left: cell.left + index * width,
    right: cell.left + (index + 1) * width,
  }))
}
