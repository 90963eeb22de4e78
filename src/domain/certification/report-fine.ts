import { matchesOf, PERCENT, within, type Found } from './report-numbers.ts'

/** Length of the stars: GIA and others. */
export const starIn = (text: string): readonly Found<number>[] => within(text, STAR, 19, 80)

/** Length of the lower halves, which AGS calls lower girdle, HRD pavilion halves, GCAL lower halves. */
export const lowerIn = (text: string): readonly Found<number>[] => within(text, LOWER, 29, 95)

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
  'i',
)

/**
 * The girdle's thickness in percent of the width; of a range, its middle. GIA and IGI print `Medium to Slightly Thick
 * (Faceted), 3.5%`, AGS a range, `1.5% to 3.2%`, HRD `Medium 3,5 % Faceted`.
 */
export const girdleIn = (text: string): readonly Found<number>[] =>
  matchesOf(text, GIRDLE).flatMap(({ all, groups: [from = '', to = from], label, at }) => {
    const value = (Number(from) + Number(to)) / 2
    return all.includes('%') && value >= 0.1 && value <= 20 ? [{ value: Math.round(value * 100) / 100, label, at }] : []
  })
