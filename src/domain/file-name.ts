/** Maximum number of characters without the extension. */
const MAX_STEM_LENGTH = 100
/** Longer ends after the last dot belong to the stem. */
const MAX_EXTENSION_LENGTH = 10

/** Maximum number of characters considered: normalising takes time quadratic in a run of combining marks. */
const MAX_NORMALISED_LENGTH = 10 * MAX_STEM_LENGTH

/**
 * The last path segment of an uploaded file's name, without characters that have a meaning in file systems or headers.
 * @returns null if nothing is left
 */
export function safeFileName(fileName = ''): string | null {
  const last = (fileName.split(/[/\\]/).at(-1) ?? '').slice(0, MAX_NORMALISED_LENGTH)
  const printable = last.toWellFormed().normalize('NFC').replaceAll(UNSAFE_CHARACTERS, '')
  const extension = EXTENSION.exec(printable)?.[0] ?? ''
  const stem = printable.slice(0, printable.length - extension.length).replace(/^[.\s]+|[.\s]+$/g, '')
  const short = [...stem].slice(0, MAX_STEM_LENGTH).join('').trim()
  return short === '' ? null : `${short}${extension}`
}

const EXTENSION = new RegExp(String.raw`(?:\.[a-z\d]{1,${MAX_EXTENSION_LENGTH}})+$`, 'i')

/** Control, format (including bidirectional overrides) and private-use characters, line separators, and characters reserved on some systems. */
const UNSAFE_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}<>:"|?*\uFFFD]/gu
