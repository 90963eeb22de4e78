/** The longest text that is normalised, in UTF-16 code units. No name, address or heading is longer, and the look-behind below is slow. */
const MAX_NORMALISED_LENGTH = 4_000

/** Invisible characters (Unicode Default_Ignorable_Code_Point): zero-width spaces, soft hyphens, direction marks, byte order marks. */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}`

/**
 * Invisible characters that change how the text looks, so they are kept: joiners, variation selectors and the tags of flags,
 * after a non-Latin letter or an emoji.
 */
const SHAPED = String.raw`(?!\p{Script=Latin})[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`
const SHAPING = String.raw`(?<=${SHAPED}\p{Default_Ignorable_Code_Point}{0,8})(?:\p{Join_Control}|\p{Variation_Selector}|[\u{e0020}-\u{e007f}])`

const INVISIBLE_OR_SHAPING = new RegExp(`(${SHAPING})|${UNSEEN}`, 'gu')

/** Texts that only need to be trimmed. */
const PRINTABLE_ASCII = /^[ -~]*$/

/** Space separators of every width; no line ends. */
const BLANK = /\p{Zs}/gu

/**
 * Normalises a text so that texts that look the same are equal: removes invisible characters (Unicode's
 * Default_Ignorable_Code_Point), turns every space separator into a plain space, trims, and applies NFC. Control characters
 * stay, so that validation can reject them.
 * @returns a text of more than 4,000 UTF-16 code units unchanged
 */
export function visibleText(text: string): string {
  if (text.length > MAX_NORMALISED_LENGTH) return text
  if (PRINTABLE_ASCII.test(text)) return text.trim()
  return text
    .replaceAll(INVISIBLE_OR_SHAPING, (_found, shaping: string | undefined) => shaping ?? '')
    .replaceAll(BLANK, ' ')
    .trim()
    .normalize('NFC')
}

/** A key for comparing texts: the visible text in lower case, with runs of spaces collapsed into one. */
export const comparisonKey = (text: string): string => visibleText(text).replaceAll(/ +/g, ' ').toLowerCase()
