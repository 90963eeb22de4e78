import type { Laboratory } from './certification.ts'

/**
 * Where a laboratory answers for one report's number; null where no page is known that takes a number alone.
 * GIA: the Certification API's own example. IGI, HRD, GCAL: the addresses by which several shops and inventories with
 * public sources link their stones (November 2026).
 * AGS closed at the end of 2022 (https://www.jckonline.com/editorial-article/ags-laboratories-merge-gia/); its former
 * page wanted the weight too. IIDGR is now De Beers Institute of Diamonds; no public link by number was found.
 */
const REPORT_PAGES: Readonly<Record<Laboratory, string | null>> = {
  GIA: 'https://www.gia.edu/report-check?reportno=',
  AGS: null,
  HRD: 'https://my.hrdantwerp.com/?record_number=',
  IGI: 'https://www.igi.org/verify-your-report/?r=',
  IIDGR: null,
  GCAL: 'https://www.gcalusa.com/certificate-search.html?certificate_id=',
}

/** The laboratory's report-check page for a number, null without a number or where no such page is known. */
export function reportCheckUrl(laboratory: Laboratory, number: string | null): string | null {
  const page = REPORT_PAGES[laboratory]
  return page === null || number === null ? null : page + encodeURIComponent(number.toWellFormed())
}

/** A run of text as its page is viewed: points from the left and from the top of the page to where its baseline begins. */
export type TextRun = {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
  /** Of its letters, in points. */
  readonly size: number
}

/** What stands together on a line, with a wide gap, or a leader of dots, before and behind it. */
export type TextCell = {
  readonly text: string
  readonly left: number
  readonly right: number
  /** Of its baseline, from the top. */
  readonly y: number
  /** Of its largest letters, in points. */
  readonly size: number
}

/** Runs whose baselines differ by less than this part of the smaller size are a line. */
const SAME_LINE = 0.4
/** Parts of the letters' size: a smaller gap is none to the eye, and a wider one divides two cells. */
const MIN_WORD_GAP = 0.12
const WIDE_GAP = 1.5

/** The cells of a page, line by line from the top, each line from the left. */
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

/** Letters that are set wide come as one run with a space between each two. */
const LETTER_SPACED_TEXT = /^\S(?: \S)+$/

/** Dots that lead the eye from a label to its value. */
const LEADER = /(?:[.…·_]\s?){3,}|…/

/** All of one height: they are on one line. */
function cellsOfLine(line: readonly TextRun[]): readonly TextCell[] {
  const y = line[0]?.y ?? 0
  const noGap = Math.max(MIN_WORD_GAP, letterGap(line) * 1.5)
  const cells: TextCell[] = []
  let open: TextCell | undefined
  let before: TextRun | undefined
  const close = () => open !== undefined && cells.push(...splitAtDotLeaders(open))
  for (const run of line) {
    // Drawn twice, a little apart, to look bold.
    if (before !== undefined && run.text === before.text && run.x - before.x < run.width / 2) continue
    const text = LETTER_SPACED_TEXT.test(run.text.trim()) ? run.text.trim().replaceAll(' ', '') : run.text
    const gap = open === undefined ? Infinity : (run.x - open.right) / Math.max(run.size, open.size)
    if (open === undefined || gap > WIDE_GAP) {
      close()
      open = { text, left: run.x, right: run.x + run.width, y, size: run.size }
    } else {
      open = {
        text: open.text + (gap < noGap ? '' : ' ') + text,
        left: open.left,
        right: Math.max(open.right, run.x + run.width),
        y,
        size: Math.max(open.size, run.size),
      }
    }
    before = run
  }
  close()
  return cells.filter(({ text }) => text !== '')
}

/** Letters that are set one by one, at least so many, tell how wide they are set. */
const LETTERS = 4

/** The usual gap between letters that are set one by one, in parts of their size; 0 where they are not. */
function letterGap(line: readonly TextRun[]): number {
  const gaps = line.flatMap((run, index) => {
    const next = line[index + 1]
    if (next === undefined || run.text.trim().length !== 1 || next.text.trim().length !== 1) return []
    return [(next.x - run.x - run.width) / run.size]
  })
  const middle = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0
  return gaps.length < LETTERS ? 0 : Math.max(0, middle)
}

/** A cell with a leader in it is two; where exactly the second one begins does not matter. */
function splitAtDotLeaders(cell: TextCell): readonly TextCell[] {
  const texts = cell.text.split(LEADER).map((text) => text.trim())
  const width = (cell.right - cell.left) / texts.length
  return texts.map((text, index) => ({
    ...cell,
    text,
    left: cell.left + index * width,
    right: cell.left + (index + 1) * width,
  }))
}
