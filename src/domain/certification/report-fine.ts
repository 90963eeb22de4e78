import type { ReportReading } from './certification.ts'
import { PERCENT, within } from './report-numbers.ts'

/**
 * The finer measures of a brilliant: the girdle's thickness (GIA, IGI `Medium to Slightly Thick (Faceted), 3.5%`, AGS a
 * range, `1.5% to 3.2%`, HRD `Medium 3,5 % Faceted`), star length and length of the lower halves, which AGS calls lower
 * girdle, HRD pavilion halves, GCAL lower halves.
 */
export function fineMeasuresIn(text: string): Pick<ReportReading, 'girdle' | 'star' | 'lower'> {
  return { girdle: girdleIn(text), star: within(text, STAR, 19, 80), lower: within(text, LOWER, 29, 95) }
}

const STAR = new RegExp(String.raw`\bstars?(?: ?(?:facets?|halves))?(?: ?length)?${PERCENT}`, 'i')
const LOWER = new RegExp(
  String.raw`\b(?:lower ?(?:girdle|half|halves)|length halves pavilion|pavilion halves)(?: ?facets?)?(?: ?length)?${PERCENT}`,
  'i',
)

/** What may stand between the label and the figure: words of thickness and of finish, and nothing else. */
const WORDS = String.raw`(?:thickness|extremely|very|slightly|thin|medium|thick|to|faceted|polished|bruted|[-%,:()/\s]){0,40}`
const FIGURE = String.raw`(\d{1,2}(?:\.\d{1,2})?)`
const GIRDLE = new RegExp(
  String.raw`\b(?<!(?:lower|upper) ?)girdle\b${WORDS}?${FIGURE}\s?%?(?:\s?(?:to|-)\s?${FIGURE}\s?%)?(?!\d|\.\d|\s?(?:°|mm))`,
  'gi',
)

/** Percent of the width; of a range, its middle. */
function girdleIn(text: string): number | null {
  for (const [all, from, to = from] of text.matchAll(GIRDLE)) {
    if (!all.includes('%')) continue
    const value = (Number(from) + Number(to)) / 2
    if (value >= 0.1 && value <= 20) return Math.round(value * 100) / 100
  }
  return null
}
