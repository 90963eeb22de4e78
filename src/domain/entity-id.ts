/** Parses an id of a diamond, a certification or similar. @returns undefined if the text is not a positive integer */
export function parseId(text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}
