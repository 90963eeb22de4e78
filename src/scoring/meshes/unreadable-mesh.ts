/** Bytes that are no mesh, or one too large. The message says what is wrong and where, and what would be right. */
export class UnreadableMesh extends Error {
  override readonly name = 'UnreadableMesh'
}

/** As much of a word of the file as a message can hold. */
export const quoted = (word: string): string => (word.length > 24 ? `"${word.slice(0, 24)}…"` : `"${word}"`)
