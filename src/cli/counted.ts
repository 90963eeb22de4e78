/** Positions are no numbers of events on every engine, and nothing else tells how many there are of anything. */
export async function counted(items: AsyncIterable<unknown>): Promise<number> {
  let number = 0
  for await (const _ of items) number++
  return number
}
