/** UTF-16 code units beyond which nobody's name, address or heading goes: looking behind each character takes time. */
const LONGEST = 4_000

/** Unicode's Default_Ignorable_Code_Point, shown as nothing: zero-width blanks, soft hyphens, marks of direction and of byte order. */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}`

/**
 * Of those, the ones that join letters or choose their form, behind a letter beyond Latin or an emoji: there they can be
 * seen. Joiners, variation selectors, and the tags of flags.
 */
const SHAPED = String.raw`(?!\p{Script=Latin})[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`
const SHAPING = String.raw`(?<=${SHAPED}\p{Default_Ignorable_Code_Point}{0,8})(?:\p{Join_Control}|\p{Variation_Selector}|[\u{e0020}-\u{e007f}])`

const EITHER = new RegExp(`(${SHAPING})|${UNSEEN}`, 'gu')

/** Space separators of every width, none of them an end of a line. */
const BLANK = /\p{Zs}/gu

/**
 * A text as it is told from others by those who read it: without characters that are not seen (Unicode's
 * Default_Ignorable_Code_Point), each blank of whatever width a space, none at either end, in normalisation form C. Texts
 * that look alike and are one thing get equal; control characters stay, to be refused.
 * @returns texts of more than 4,000 UTF-16 code units as they are
 */
export function visibleText(text: string): string {
  if (text.length > LONGEST) return text
  return text
    .replaceAll(EITHER, (_found, shaping: string | undefined) => shaping ?? '')
    .replaceAll(BLANK, ' ')
    .trim()
    .normalize('NFC')
}

/** The same for comparing words: several blanks are one, and case does not count. */
export const comparisonKey = (text: string): string => visibleText(text).replaceAll(/ +/g, ' ').toLowerCase()
