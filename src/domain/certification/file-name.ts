/** Characters of a name without its extension at most. */
const LENGTH_MAX = 100

/** Characters that are looked at: normalising takes time that grows with the square of a run of combining marks. */
const READ_MAX = 10 * LENGTH_MAX

/**
 * What an uploaded file's name leaves to save it by: its last part, without what a file system, a header or a reader
 * could take for something else. Always ends in `.pdf`.
 * @returns null when nothing is left
 */
export function safeFileName(given: string | undefined): string | null {
  const last = ((given ?? '').split(/[/\\]/).at(-1) ?? '').slice(0, READ_MAX)
  const printable = last.toWellFormed().normalize('NFC').replaceAll(UNWANTED, '')
  const stem = printable.replace(/(?:\.pdf)+$/i, '').replace(/^[.\s]+|[.\s]+$/g, '')
  const short = [...stem].slice(0, LENGTH_MAX).join('').trim()
  return short === '' ? null : `${short}.pdf`
}

/** Controls, invisible formatting (which turns text around), private use, line separators; reserved on some systems. */
const UNWANTED = /[\p{C}\p{Zl}\p{Zp}<>:"|?*\uFFFD]/gu
