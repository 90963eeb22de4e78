/** `=?UTF-8?B?UHLDvGY=?=`, `=?iso-8859-1?q?Pr=FCf?=`; behind the charset there may be a language. */
const WORD = /=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi

/** Blanks between two encoded words belong to neither. */
const BETWEEN = /(?<=\?=)\s+(?==\?[\w-]+(?:\*[\w-]*)?\?[bq]\?)/gi

/**
 * A text without encoded words (RFC 2047): programs that send e-mail write names of files so in forms, too. A word of an
 * unknown charset stays as it is.
 */
export const withoutEncodedWords = (text: string): string =>
  text.replaceAll(BETWEEN, '').replaceAll(WORD, (word, charset: string, encoding: string, encoded: string) => {
    const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(encoded, 'base64') : quotedPrintable(encoded)
    return decoded(bytes, charset) ?? word
  })

/** The `Q` encoding: RFC 2047, 4.2. */
function quotedPrintable(encoded: string): Buffer {
  const latin = encoded
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9a-f]{2})/gi, (_found, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin, 'latin1')
}

function decoded(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // An unknown charset.
    return undefined
  }
}
