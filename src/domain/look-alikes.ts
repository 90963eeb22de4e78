/**
 * Cyrillic and Greek letters that look like a Latin one in most fonts, and dashes. Written as code points, because nobody could
 * tell them apart here either. Source: the Unicode Consortium's UTS #39, confusables.
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  '-': '\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212',
  A: '\u0410\u0391',
  B: '\u0412\u0392',
  C: '\u0421',
  E: '\u0415\u0395',
  H: '\u041d\u0397',
  I: '\u0406\u0399',
  J: '\u0408',
  K: '\u041a\u039a',
  M: '\u041c\u039c',
  N: '\u039d',
  O: '\u041e\u039f',
  P: '\u0420\u03a1',
  S: '\u0405',
  T: '\u0422\u03a4',
  X: '\u0425\u03a7',
  Y: '\u0423\u03a5',
  Z: '\u0396',
  a: '\u0430',
  c: '\u0441',
  e: '\u0435',
  i: '\u0456',
  j: '\u0458',
  o: '\u043e\u03bf',
  p: '\u0440',
  s: '\u0455',
  v: '\u03bd',
  x: '\u0445',
  y: '\u0443',
}

const PLAIN: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([plain, others]) => [...others].map((other) => [other, plain] as const)),
)

const replaceIn = (text: string): string => [...text].map((character) => PLAIN.get(character) ?? character).join('')

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

const DASHES = new RegExp(`[${LOOK_ALIKES['-']}]`, 'g')

/**
 * The text with Latin letters, digits and hyphens in place of characters that look the same: full-width ones, dashes of every
 * kind, and Cyrillic and Greek letters. If other letters of these alphabets remain, it is a word of theirs, whose letters stay.
 */
export function plainText(text: string): string {
  if (isAscii(text)) return text
  const normalised = text.normalize('NFKC')
  const plain = replaceIn(normalised)
  return /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(plain)
    ? normalised.replaceAll(DASHES, '-')
    : plain.normalize('NFKC')
}

/** The first characters of a text that `plainText` replaces, such as `U+0415, U+2013`; empty if there are none. */
export function describeLookAlikes(text: string): string {
  if (isAscii(text)) return ''
  const plain = plainText(text)
  const replaced = [...new Set(text)].filter((character) => !isAscii(character) && !plain.includes(character))
  const codePoints = replaced
    .slice(0, MAX_DESCRIBED)
    .map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
  return [...codePoints, ...(replaced.length > MAX_DESCRIBED ? ['...'] : [])].join(', ')
}

const MAX_DESCRIBED = 3
