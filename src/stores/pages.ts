/**
 * Reads rows in the order of their keys, page by page (keyset pagination). Rows can be written between two pages.
 * @param read returns up to `size` rows after a key
 */
export async function* inPages<Row, Key>(
  start: Key,
  size: number,
  keyOf: (row: Row) => Key,
  read: (after: Key) => Promise<readonly Row[]> | readonly Row[],
): AsyncGenerator<readonly Row[]> {
  for (let after = start; ;) {
    const page = await read(after)
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    after = keyOf(last)
  }
}
